import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Registry } from '../../src/gateway/index.js';
import { temporaryDirectory } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

/** Sockets that are open at targets, now and at most. */
interface Sockets {
  open: number;
  most: number;
}

const healthy: RequestListener = ({ url }, response) => {
  if (url === '/health') return void response.end('{"status":"ok"}');
  if (url === '/.well-known/mcp') return void response.end('{"name":"x","version":"1","capabilities":["a"]}');
  response.writeHead(404).end();
};
const hanging: RequestListener = () => {};
const garbage: RequestListener = (_, response) => void response.end('\u0000garbage{{{');
const deep: RequestListener = (_, response) => void response.end(`{"status":${'['.repeat(50_000)}`);

/** A target that counts who is connected to it. */
async function startTarget(answer: RequestListener, sockets: Sockets): Promise<string> {
  const server = createServer({ keepAliveTimeout: 0 }, answer);
  server.on('connection', (socket) => {
    sockets.open += 1;
    sockets.most = Math.max(sockets.most, sockets.open);
    socket.on('close', () => (sockets.open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openOver(targets: readonly string[], timeoutMs: number): Promise<Registry> {
  const cwd = await temporaryDirectory();
  const listed = targets.map((target, at) => ({ id: `s${at}`, base_url: target }));
  await writeFile(join(cwd, 'tools.json'), JSON.stringify(listed));
  const env = {
    TOOLS_YAML_PATH: 'tools.json',
    REGISTRY_ALLOWED_HOSTS: '127.0.0.1',
    DISCOVERY_TIMEOUT_MS: String(timeoutMs),
  };
  const gateway = await openToolscout({}, { cwd, env });
  return (await gateway.registry.get())!;
}

/** Servers under way at once, and one more that is let in while the last of them is counted. */
const MAX_SERVERS = 129;
/** A server is asked for its health and its document, and one that speaks without one in seven further places. */
const MAX_QUESTIONS = 7;

describe('hundreds of targets', STARTS_PROCESSES, () => {
  it(
    'REG-5 A29 of 500 targets 50 hang and 50 answer garbage: everyone healthy is alive, and sockets stay bounded',
    async () => {
      const sockets = { open: 0, most: 0 };
      const kinds = [hanging, garbage, deep, healthy];
      const [hung, odd, steep, good] = await Promise.all(kinds.map((kind) => startTarget(kind, sockets)));
      const targets = Array.from({ length: 500 }, (_, at) =>
        at < 50 ? hung! : at < 75 ? odd! : at < 100 ? steep! : good!,
      );
      // Time enough for servers that answer, on a busy machine too; those that hang take all of it.
      const registry = await openOver(targets, patient(8000));
      await registry.refresh();
      const { items } = registry.snapshot();
      expect(items).toHaveLength(500);
      const of = (target: string): typeof items => items.filter(({ base_url: url }) => url === target);
      expect(of(good!).filter(({ alive }) => alive)).toHaveLength(400);
      expect(new Set(of(good!).map(({ failure_reason: reason }) => reason))).toEqual(new Set([null]));
      expect(new Set(of(hung!).map(({ failure_reason: reason }) => reason))).toEqual(
        new Set(['well_known_error:timeout']),
      );
      expect(of(hung!).filter(({ alive }) => alive)).toEqual([]);
      expect(new Set([...of(odd!), ...of(steep!)].map(({ failure_reason: reason }) => reason))).toEqual(
        new Set(['well_known_error:invalid_json']),
      );
      expect(sockets.most).toBeGreaterThan(0);
      expect(sockets.most).toBeLessThanOrEqual(MAX_SERVERS * MAX_QUESTIONS);
      await expect.poll(() => sockets.open).toBe(0);
    },
    patient(90_000),
  );

  it(
    'REG-5 A29 a refresh ends although nothing ever answers, with a bounded number of sockets',
    async () => {
      const sockets = { open: 0, most: 0 };
      const hung = await startTarget(hanging, sockets);
      const registry = await openOver(
        Array.from({ length: 300 }, () => hung),
        1500,
      );
      await registry.refresh();
      const { items } = registry.snapshot();
      expect(items.map(({ failure_reason: reason }) => reason)).toEqual(
        Array.from({ length: 300 }, () => 'well_known_error:timeout'),
      );
      expect(items.filter(({ alive }) => alive)).toEqual([]);
      // A silent server gets at most two requests: for health and for the document.
      expect(sockets.most).toBeLessThanOrEqual(MAX_SERVERS * 2);
      await expect.poll(() => sockets.open).toBe(0);
    },
    patient(90_000),
  );
});
