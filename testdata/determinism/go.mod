module determinism

go 1.24
