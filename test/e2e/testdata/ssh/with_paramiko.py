"""Usage: with_paramiko.py PROXYCOMMAND"""
import os
import sys

import paramiko

transport = paramiko.Transport(paramiko.ProxyCommand(sys.argv[1]))
transport.start_client()
transport.auth_none("berth")
session = transport.open_session()
session.exec_command("cat; echo err >&2; exit 6")
session.sendall(b"out")
session.shutdown_write()
print(
    session.makefile().read().decode(),
    session.makefile_stderr().read().decode().strip(),
    session.recv_exit_status(),
)
files = paramiko.SFTPClient.from_transport(transport)
print(files.normalize("."))
content = os.urandom(3_000_000)
with open("src", "wb") as f:
    f.write(content)
files.put("src", "paramiko")
files.get("paramiko", "back")
with open("back", "rb") as f:
    same = f.read() == content
with files.open("paramiko", "r+") as f:
    f.seek(2_000_000)
    same = same and f.read(100) == content[2_000_000:2_000_100]
    f.seek(10)
    f.write(b"here")
    f.seek(8)
    same = same and f.read(8) == content[8:10] + b"here" + content[14:16]
print("back", same)
try:
    files.stat("no such file")
except FileNotFoundError:
    pass
try:
    transport.request_port_forward("", 0)
except paramiko.SSHException:
    print("refused")
transport.close()
