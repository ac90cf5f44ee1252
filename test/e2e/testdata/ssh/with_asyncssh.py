"""Usage: with_asyncssh.py PROXYCOMMAND"""
import asyncio
import os
import sys

import asyncssh


async def main():
    async with asyncssh.connect(
        "workspace", username="berth", known_hosts=None, client_keys=None, proxy_command=sys.argv[1]
    ) as connection:
        ran = await connection.run("echo out; exit 5")
        print(ran.stdout.strip(), ran.exit_status)
        async with connection.start_sftp_client() as files:
            content = os.urandom(3_000_000)
            with open("src", "wb") as f:
                f.write(content)
            await files.put("src", "asyncssh")
            await files.get("asyncssh", "back")
            with open("back", "rb") as f:
                print("back", f.read() == content)
            await files.mkdir("asyncssh-dir")
            await files.symlink("to", "asyncssh-dir/link")
            print(await files.readlink("asyncssh-dir/link"))
            await files.rmtree("asyncssh-dir")


asyncio.run(main())
