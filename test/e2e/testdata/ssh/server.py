"""A server on a port that speaks as an editor's does: an upgrade to WebSocket, and then echoes."""
import base64
import hashlib
import socket

listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
while True:
    conn, _ = listener.accept()
    head = b""
    while b"\r\n\r\n" not in head:
        head += conn.recv(4096)
    key = [line.split(b": ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")][0]
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    conn.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        + accept
        + b"\r\n\r\n"
    )
    frame = conn.recv(4096)
    size = frame[1] & 127
    mask, text = frame[2:6], frame[6 : 6 + size]
    text = bytes(c ^ mask[i % 4] for i, c in enumerate(text))
    conn.sendall(bytes([0x81, len(text) + 5]) + b"echo " + text)
    conn.close()
