// Servers to be checked, in a process of their own: one kind that hangs, one that answers garbage, one that is well.
import { createServer } from 'node:http';

const kinds = [
  () => {},
  (_request, response) => response.end('\u0000garbage{{{'),
  ({ url }, response) => {
    if (url === '/health') return response.end('{"status":"ok"}');
    if (url === '/.well-known/mcp') return response.end('{"name":"x","version":"1","capabilities":["a"]}');
    return response.writeHead(404).end();
  },
];
const ports = await Promise.all(
  kinds.map(
    (answer) =>
      new Promise((resolve) => {
        const server = createServer(answer).listen(0, '127.0.0.1', () => resolve(server.address().port));
      }),
  ),
);
process.send(ports);
