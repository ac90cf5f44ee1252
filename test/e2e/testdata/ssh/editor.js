// Usage: editor.js PROXYCOMMAND
//
// What open-remote-ssh does with npm's ssh2: it runs the proxy itself, runs a shell whose script comes on its input, and
// then connects with the port that the script names.
const { spawn } = require('child_process');
const fs = require('fs');
const { Duplex } = require('stream');
const { Client } = require('ssh2');

const [program, ...args] = process.argv[2].split(' ');
const proxy = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const sock = Duplex.from({ readable: proxy.stdout, writable: proxy.stdin });
const client = new Client();

function webSocket(port) {
  client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, stream) => {
    if (error) throw error;
    let upgraded = false;
    stream.on('data', (data) => {
      if (!upgraded) {
        console.log(data.toString('latin1').includes(' 101 ') ? 'switching protocols' : data.toString());
        upgraded = true;
        const mask = [1, 2, 3, 4];
        const text = Buffer.from('hello').map((c, i) => c ^ mask[i % 4]);
        stream.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, ...mask]), text]));
        return;
      }
      console.log(data.subarray(2).toString());
      client.end();
      proxy.kill();
      process.exit(0);
    });
    stream.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n');
  });
}

client.on('ready', () => client.exec('bash', (error, stream) => {
  if (error) throw error;
  let out = '';
  stream.on('data', (data) => {
    out += data;
    const port = /port (\d+)/.exec(out);
    if (port && !out.done) {
      stream.removeAllListeners('data');
      console.log('bash says ready');
      webSocket(Number(port[1]));
    }
  });
  stream.write(`cat >/tmp/editor.py <<'EOF'\n${fs.readFileSync(`${__dirname}/server.py`)}\nEOF\npython3 -u /tmp/editor.py &\nwait\n`);
}));
client.connect({ sock, username: 'berth', authHandler: ['none'] });
setTimeout(() => { console.log('nothing came'); process.exit(1); }, 60000);
