import { createReadStream, existsSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ConfigInput } from '../../../src/model/config.js';
import { lineMatching, workplace, type Workplace } from '../../support/toolscout.js';

const FOLDER = fileURLToPath(new URL('../../../dist/studio', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** A served Studio. */
export interface Studio extends Workplace {
  readonly url: string;
}

/** Starts toolscout with this config and serves the built page in front of it. */
export async function openStudio(config: ConfigInput): Promise<Studio> {
  const place = await workplace(config);
  const child = place.start('serve', '--port', '0', '--admin');
  const [, port = ''] = await lineMatching(child, /127\.0\.0\.1:(\d+)/);
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const file =
      path === '/' ? join(FOLDER, 'index.html') : path.startsWith('/studio/') ? join(FOLDER, path.slice(8)) : undefined;
    if (file && existsSync(file)) {
      response.writeHead(200, { 'content-type': TYPES[extname(file)], 'content-security-policy': POLICY });
      createReadStream(file).pipe(response);
      return;
    }
    const headers = { ...request.headers, host: `127.0.0.1:${port}` };
    delete headers.origin;
    const forward = httpRequest({ port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forward.on('error', () => response.destroy());
    response.on('close', () => forward.destroy());
    request.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...place, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
