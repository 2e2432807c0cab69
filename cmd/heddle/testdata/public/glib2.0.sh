meson setup build -Dbuildtype=plain -Dc_args="-O1 -g -fno-strict-aliasing" -Ddefault_library=static -Dtests=true -Dlibmount=disabled -Dselinux=disabled \
  -Dnls=disabled -Dxattr=false -Dsysprof=disabled -Ddtrace=false -Dsystemtap=false -Dgtk_doc=false -Dman=false
ninja -C build glib/tests/asyncqueue glib/tests/cond glib/tests/once
