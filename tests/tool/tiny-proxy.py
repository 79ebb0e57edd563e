#!/usr/bin/env python3
"""A CONNECT proxy of few lines, for the tests of the load generator.

usage: tiny-proxy.py COUNTS [STATUS | close]

Prints its port.  Answers every CONNECT with STATUS (200 when not given); "close" closes instead.  Appends one line
for every head to the file COUNTS: the target and the credential.
"""
import asyncio
import sys

COUNTS = open(sys.argv[1], "a", buffering=1)
STATUS = sys.argv[2] if len(sys.argv) > 2 else "200"


async def relay(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        pass


async def serve(reader, writer):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        target = lines[0].split(" ")[1]
        credential = next((x.split(": ", 1)[1] for x in lines if x.startswith("Proxy-Authorization: ")), "-")
        print(target, credential, file=COUNTS)
        if STATUS == "200":
            host, port = target.split(":")
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(relay(reader, far_writer), relay(far_reader, writer))
            far_writer.close()
        elif STATUS != "close":
            writer.write(f"HTTP/1.1 {STATUS} x\r\nContent-Length: 0\r\n\r\n".encode())
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
