#!/usr/bin/env python3
"""The server for webdow.c: pages of growing size, on 127.0.0.1 only. Prints its port."""
import http.server
import re


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        n = int(re.sub(r"\D", "", self.path) or 0)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * (1000 + 700 * n))

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
print(server.server_port, flush=True)
server.serve_forever()
