import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { fixture, temporaryDirectory, waitUntil } from '../../../test/support/fixture.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import { VERSION } from '../../kernel/version.js';
import { dial } from './dial.js';
import { forwardHost } from './forward.js';
import { readForwardOptions, type ForwardAround } from './forward-options.js';
import { createHello, readHello } from './hello.js';
import { preparePlace, readRecord, sharedKey, sharedPlace, writeRecord, type SharedPlace } from './place.js';
import { reachService } from './reach-service.js';
import { openSharedService, type SharedService } from './service.js';
import { askServices } from './services.js';
import { holderOf, isAlive, tryLock } from './start-lock.js';

const alone = () => import('./serve-alone.js');

/** A process id that no process has. */
const NOBODY = 2 ** 22 + 1;

async function serviceIn(
  folder: string,
  more: { readonly idleMs?: number; readonly level?: 'full' } = {},
): Promise<{ place: SharedPlace; service: SharedService }> {
  const opened = await openToolscout({ servers: { old: fixture('legacy'), gone: { command: '/no/such/program' } } });
  const { level = 'calm' as const } = more;
  const overload = () => ({ ...opened.internal.overload(), level });
  const gateway = { ...opened, internal: { ...opened.internal, overload } };
  const place = sharedPlace(folder, 'k');
  const service = await openSharedService({
    place,
    gateway,
    log: silentLog,
    clock: systemClock,
    config: 'test',
    idleMs: more.idleMs ?? 600_000,
  });
  onTestFinished(() => service.close());
  return { place, service };
}

describe('the place of a service', () => {
  it('STORE-6 is private, and links and foreign files are refused', async () => {
    const folder = await temporaryDirectory();
    const place = sharedPlace(folder, sharedKey(['a', undefined]));
    await mkdir(place.folder, { mode: 0o755 });
    await chmod(place.folder, 0o755);
    preparePlace(place);
    expect((await stat(place.folder)).mode & 0o777).toBe(0o700);
    const record = { pid: 1, version: VERSION, token: 't', config: 'c', startedAt: 0 };
    writeRecord(place, record);
    expect(readRecord(place.record)).toEqual(record);
    await chmod(place.record, 0o644);
    expect(readRecord(place.record)).toBeUndefined();
    await symlink(place.record, join(folder, 'link'));
    expect(readRecord(join(folder, 'link'))).toBeUndefined();
    await writeFile(join(folder, 'other.json'), '{}', { mode: 0o600 });
    expect(readRecord(join(folder, 'other.json'))).toBeUndefined();
    const linked = join(await temporaryDirectory(), 'state');
    await mkdir(linked);
    await symlink(folder, join(linked, 'shared'));
    expect(() => preparePlace(sharedPlace(linked, 'k'))).toThrow(
      'must be a real directory; it is a file or a symbolic link',
    );
  });

  it('STORE-6 a path that is too long for a socket has it in a private folder elsewhere, Windows has a pipe', () => {
    const long = sharedPlace(`/${'x'.repeat(120)}`, 'k');
    expect(Buffer.byteLength(long.socket)).toBeLessThan(104);
    expect(long.folder.startsWith('/xxx')).toBe(true);
    preparePlace({ ...long, folder: join(long.socket, '..') });
    expect(sharedPlace('C:\\state', 'k', { platform: 'win32', uid: 0 }).socket).toMatch(/^\\\\\.\\pipe\\toolscout-/);
  });
});

describe('the lock of a start', () => {
  it('STORE-6 is held by one process, and taken over from a dead or a forgotten one', async () => {
    const file = join(await temporaryDirectory(), 'lock');
    const release = tryLock(file, systemClock);
    expect(holderOf(file)).toBe(process.pid);
    expect(tryLock(file, systemClock)).toBeUndefined();
    release!();
    expect(holderOf(file)).toBeUndefined();
    await writeFile(file, String(NOBODY));
    const again = tryLock(file, systemClock);
    expect(holderOf(file)).toBe(process.pid);
    again!();
    await writeFile(file, String(process.ppid));
    expect(tryLock(file, systemClock)).toBeUndefined();
    await utimes(file, 0, 0);
    const third = tryLock(file, systemClock);
    expect(third).toBeDefined();
    third!();
    // Its holder was killed before it wrote its name.
    await writeFile(file, '');
    expect(tryLock(file, systemClock)).toBeUndefined();
    const earlier = new Date(Date.now() - 5000);
    await utimes(file, earlier, earlier);
    const fourth = tryLock(file, systemClock);
    expect(holderOf(file)).toBe(process.pid);
    await writeFile(file, 'someone');
    fourth!();
    expect(await readFile(file, 'utf8')).toBe('someone');
    // Another process takes the forgotten lock over between the look and the removal.
    await writeFile(file, '');
    await utimes(file, earlier, earlier);
    const late = { now: () => (writeFileSync(file, String(process.ppid)), Date.now()) };
    expect(tryLock(file, late)).toBeUndefined();
    expect(holderOf(file)).toBe(process.ppid);
    expect(isAlive(NOBODY)).toBe(false);
    expect(isAlive(process.pid)).toBe(true);
    expect(() => tryLock(join(file, 'below'), systemClock)).toThrow();
  });
});

describe('a greeting', () => {
  it('STORE-6 proves on both sides that the token is known', () => {
    const hello = createHello('secret', { kind: 'status' });
    expect(hello.line).not.toContain('secret');
    const read = readHello(hello.line, 'secret')!;
    expect(read.wish).toEqual({ kind: 'status' });
    expect(hello.read(read.answer({ status: {} }))).toMatchObject({ status: {} });
    expect(readHello(hello.line, 'other')).toBeUndefined();
    expect(hello.read(readHello(createHello('other', { kind: 'status' }).line, 'other')!.answer())).toBeUndefined();
    for (const text of ['', '7', '{}', '{"toolscout":1}', '{"toolscout":1,"nonce":"n"}']) {
      expect(readHello(text, 'secret')).toBeUndefined();
    }
    const wrong = createHello('secret', { kind: 'dance' as 'stop' });
    expect(readHello(wrong.line, 'secret')).toBeUndefined();
  });
});

describe('the service', STARTS_PROCESSES, () => {
  it('STORE-6 serves a host, says what it does, refuses a second one at its place and stops on request', async () => {
    const folder = await temporaryDirectory();
    expect(await askServices(folder, 'status', systemClock)).toEqual([]);
    const { place, service } = await serviceIn(folder);
    const host = (await dial(place, { kind: 'host', server: 'old' }, systemClock))!;
    host.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    let heard = '';
    host.socket.on('data', (chunk: Buffer) => (heard += chunk.toString())).resume();
    await waitUntil(() => heard.includes('"id":1'), { what: 'the answer' });
    expect(await askServices(folder, 'status', systemClock)).toMatchObject([
      { hosts: 1, servers: 2, version: VERSION },
    ]);
    await expect(dial(place, { kind: 'host', server: 'none' }, systemClock)).rejects.toThrow('no server "none"');
    await expect(dial(place, { kind: 'host', skill: 'none' }, systemClock)).rejects.toThrow('none');
    await expect(serviceIn(folder)).rejects.toThrow('running already');
    const reached = await reachService(
      place,
      { kind: 'host' },
      { clock: systemClock, service: { command: 'none', args: [], cwd: '/', env: {} } },
    );
    reached.socket.destroy();
    expect(await askServices(folder, 'stop', systemClock)).toHaveLength(1);
    await service.ended;
    await service.close();
    await waitUntil(() => heard.includes('notifications/toolscout/stopping'), { what: 'the last word' });
    expect(await dial(place, { kind: 'status' }, systemClock)).toBeUndefined();
    expect(readRecord(place.record)).toBeUndefined();
  });

  it('R12 with no memory left a new host is refused, and a request for its status is answered', async () => {
    const folder = await temporaryDirectory();
    const { place } = await serviceIn(folder, { level: 'full' });
    await expect(dial(place, { kind: 'host' }, systemClock)).rejects.toMatchObject({
      code: 'OVERLOADED',
      message: 'The service has too little memory left for another host.',
      suggestion: expect.stringContaining('raise the limits under overload in the config') as string,
    });
    expect(await askServices(folder, 'status', systemClock)).toMatchObject([{ hosts: 0 }]);
  });

  it('STORE-6 refuses a host beyond its limit, and says how to be served all the same', async () => {
    const { place } = await serviceIn(await temporaryDirectory());
    const hosts = [];
    for (let at = 0; at < 256; at++) hosts.push(await dial(place, { kind: 'host' }, systemClock));
    await expect(dial(place, { kind: 'host' }, systemClock)).rejects.toMatchObject({
      code: 'OVERLOADED',
      message: 'The service has 256 hosts already.',
      suggestion: 'Close a host, or start this one without --shared.',
    });
    for (const host of hosts) host?.socket.destroy();
  });

  it('STORE-6 EXEC-4 refuses a host of one server that cannot be listed, with the reason', async () => {
    const { place } = await serviceIn(await temporaryDirectory());
    await expect(dial(place, { kind: 'host', server: 'gone' }, systemClock)).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: expect.stringContaining('The command "/no/such/program" was not found.') as string,
    });
    const host = await dial(place, { kind: 'host', server: 'old' }, systemClock);
    expect(host?.answer).toBeDefined();
    host?.socket.destroy();
  });

  it('STORE-6 ends without hosts, and not while it has one', async () => {
    const folder = await temporaryDirectory();
    const { place, service } = await serviceIn(folder, { idleMs: 50 });
    const host = await dial(place, { kind: 'host' }, systemClock);
    let isEnded = false;
    void service.ended.then(() => (isEnded = true));
    if (host) {
      await askServices(folder, 'status', systemClock);
      expect(isEnded).toBe(false);
      host.socket.destroy();
    }
    await service.ended;
  });

  it('STORE-6 closes connections without a greeting, and those beyond the limit', async () => {
    const folder = await temporaryDirectory();
    const { place } = await serviceIn(folder);
    const closed = (text: string): Promise<void> =>
      new Promise((resolve) => {
        const socket = connect(place.socket, () => socket.write(text));
        socket
          .on('error', () => undefined)
          .on('close', () => resolve())
          .resume();
      });
    await closed('nonsense\n');
    await closed('x'.repeat(20_000));
    const silent = Array.from({ length: 70 }, () =>
      connect(place.socket)
        .on('error', () => undefined)
        .resume(),
    );
    onTestFinished(() => silent.forEach((each) => each.destroy()));
    await Promise.race(silent.map((each) => new Promise((resolve) => each.once('close', resolve))));
    expect(silent.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(0);
  });
});

describe('connecting to something else than a service', () => {
  it('STORE-6 finds nothing where the other end is silent, ends, talks too much or cannot prove itself', async () => {
    const folder = await temporaryDirectory();
    const place = sharedPlace(folder, 'k');
    preparePlace(place);
    expect(await dial(place, { kind: 'status' }, systemClock)).toBeUndefined();
    writeRecord(place, { pid: 1, version: VERSION, token: 't', config: 'c', startedAt: 0 });
    expect(await dial(place, { kind: 'status' }, systemClock)).toBeUndefined();
    let behave: (socket: Socket) => void = () => undefined;
    const server = createServer((socket) => behave(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(place.socket, resolve));
    onTestFinished(() => void server.close());
    for (const each of [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.write('x'.repeat(20_000)),
      (socket: Socket) => void socket.write('{"toolscout":1,"proof":"wrong"}\n'),
      (socket: Socket) => {
        socket.write('{"toolscout":1,');
        socket.end('"proof":7}\nmore');
      },
    ]) {
      behave = each;
      expect(await dial(place, { kind: 'status' }, systemClock)).toBeUndefined();
    }
    behave = () => undefined;
    const clock = createFakeClock();
    let found: unknown = 'waiting';
    void dial(place, { kind: 'status' }, clock).then((dialled) => (found = dialled));
    await waitUntil(
      async () => {
        await clock.advance(20_000);
        return found !== 'waiting';
      },
      { what: 'the end of patience' },
    );
    expect(found).toBeUndefined();
  });

  it('STORE-6 a folder that cannot be read is an error, not an absence', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'shared'), '');
    await expect(askServices(folder, 'status', systemClock)).rejects.toThrow('ENOTDIR');
    expect(() => preparePlace(sharedPlace(folder, 'k'))).toThrow();
  });
});

describe('reaching a service', STARTS_PROCESSES, () => {
  it('STORE-6 names the reason when it ends at once, cannot be started or does not answer', async () => {
    const place = sharedPlace(await temporaryDirectory(), 'k');
    const reach = (command: string, args: string[], clock = systemClock) =>
      reachService(place, { kind: 'host' }, { clock, service: { command, args, cwd: '/', env: {} } });
    await expect(reach(process.execPath, ['-e', 'process.exit(7)'])).rejects.toThrow('exit code 7');
    await expect(reach('/nowhere/at-all', [])).rejects.toMatchObject({
      message: expect.stringContaining('ENOENT') as string,
      suggestion: expect.stringContaining('toolscout service stop') as string,
    });
    await writeFile(place.log, 'x'.repeat(1024 * 1024 + 1));
    const clock = createFakeClock();
    const late = reach(process.execPath, ['-e', 'setTimeout(() => {}, 2000)'], clock).catch(
      (thrown: Error) => thrown.message,
    );
    let reason: string | undefined;
    void late.then((message) => (reason = message as string));
    await waitUntil(
      async () => {
        await clock.advance(1000);
        return reason !== undefined;
      },
      { what: 'the end of patience' },
    );
    expect(reason).toBe(`The shared service cannot be used: it did not answer within 30 s; see ${place.log}.`);
    expect((await stat(place.log)).size).toBe(0);
    expect(holderOf(place.lock)).toBeUndefined();
  });
});

describe('the command line of a forwarder', () => {
  const around = (words: string[], env: ForwardAround['env'] = { HOME: '/home/ann' }): ForwardAround => ({
    argv: ['node', '/opt/cli.js', ...words],
    execPath: 'node',
    execArgv: [],
    cwd: '/work',
    env,
  });
  const base = ['serve', '--stdio', '--shared'];
  const keyOf = (words: string[], env?: ForwardAround['env']): string | undefined =>
    readForwardOptions(around(words, env))?.place.key;

  it('STORE-6 is read without the whole command line, which reads what is not understood', () => {
    const read = readForwardOptions(
      around([
        ...base,
        '--config=c.json',
        '--mode',
        'code',
        '--server',
        's',
        '--skill',
        'k',
        '--admin',
        '--idle',
        '3',
        '--demo',
        '--log-level',
        'info',
        '--state-dir',
        '/state',
      ]),
    )!;
    expect(read.wish).toEqual({ kind: 'host', mode: 'code', server: 's', skill: 'k', admin: true });
    expect(read.open).toEqual({ config: '/work/c.json', stateDir: '/state', demo: true });
    expect(read.service.cwd).toBe('/home/ann');
    expect(read.service.args.join(' ')).toMatch(
      /serve --shared --shared-key \w+ --state-dir \/state --config \/work\/c.json --demo --idle 3 --log-level info$/,
    );
    for (const words of [
      ['serve', '--stdio'],
      ['serve', '--shared'],
      ['doctor', '--stdio', '--shared'],
      [...base, '--help'],
      [...base, '--config'],
      [...base, '--config', '--demo'],
      [...base, '--config='],
      [...base, '--demo=yes'],
      [...base, '--state-dir', 'memory'],
    ]) {
      expect(readForwardOptions(around(words))).toBeUndefined();
    }
    expect(readForwardOptions(around(base, { HOME: '/h', TOOLSCOUT_VIA: 'x' }))).toBeUndefined();
    expect(readForwardOptions(around(base))!.service.cwd).toBe('/work');
  });

  it('STORE-6 another config, folder without one, or variable that the config names, or another program, means another service', async () => {
    const file = join(await temporaryDirectory(), 'c.json');
    await writeFile(file, '{"servers": {"a": {"command": "x", "env": {"T": "${TOKEN}"}}}}');
    const named = [...base, '--config', file];
    const home = { HOME: '/home/ann' };
    expect(keyOf(named)).toBe(keyOf(named, { ...home, OTHER: '1' }));
    expect(keyOf(named)).not.toBe(keyOf(named, { ...home, TOKEN: '1' }));
    expect(keyOf(named)).not.toBe(keyOf(named, { ...home, A_MCP_TOKEN: '1' }));
    expect(keyOf(named)).not.toBe(keyOf([...base, '--config', `${file}.other`]));
    expect(keyOf([...named, '--mode', 'code'])).toBe(keyOf(named));
    expect(keyOf(base)).not.toBe(keyOf(named));
    // Another version stands at another place, or was installed over this one.
    const program = (script: string): string | undefined =>
      readForwardOptions({ ...around(named), argv: ['node', script, ...named] })?.place.key;
    const [here, there] = [join(file, '..', 'cli.js'), join(file, '..', 'other.js')];
    await Promise.all([writeFile(here, ''), writeFile(there, '')]);
    const before = program(here);
    expect(program(there)).not.toBe(before);
    expect(program(here)).toBe(before);
    await utimes(here, 1, 1);
    expect(program(here)).not.toBe(before);
  });
});

describe('hosts with other credentials', () => {
  const keyIn = (folder: string, env: ForwardAround['env'], ...words: string[]): string => {
    const argv = ['node', '/opt/cli.js', 'serve', '--stdio', '--shared', ...words];
    const home = { HOME: join(folder, 'home'), ...env };
    return readForwardOptions({ argv, execPath: 'node', execArgv: [], cwd: folder, env: home })!.place.key;
  };
  const one = { TOKEN: 'of-one' };
  const other = { TOKEN: 'of-the-other' };

  it.each([
    ['"${env:TOKEN}"', 'json'],
    ['"${TOKEN:-none}"', 'yaml'],
    ['const { TOKEN } = process.env', 'ts'],
    ["const from = process.env; from['TOKEN']", 'mjs'],
  ])('STORE-6 a config with %s in a %s file gives each a service of its own', async (text, ending) => {
    const folder = await temporaryDirectory();
    const file = join(folder, `c.${ending}`);
    await writeFile(file, text);
    expect(keyIn(folder, one, '--config', file)).not.toBe(keyIn(folder, other, '--config', file));
    expect(keyIn(folder, one, '--config', file)).toBe(keyIn(folder, { ...one, ELSE: '1' }, '--config', file));
  });

  it.each(['home/.config/toolscout/config.json', 'toolscout.config.yaml', '.toolscout/config.jsonc', 'mcp.json'])(
    'STORE-6 a config that is found and not named, %s, gives each a service of its own',
    async (path) => {
      const folder = await temporaryDirectory();
      const file = join(folder, path);
      expect(keyIn(folder, one)).toBe(keyIn(folder, other));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, '{"servers": {"a": {"url": "https://a.example", "headers": {"x-key": "${TOKEN}"}}}}');
      expect(keyIn(folder, one)).not.toBe(keyIn(folder, other));
    },
  );

  it('STORE-6 a folder that has the name of a config is ignored', async () => {
    const folder = await temporaryDirectory();
    await mkdir(join(folder, 'toolscout.config.json'));
    expect(keyIn(folder, one)).toBe(keyIn(folder, other));
  });
});

describe('a forwarder', STARTS_PROCESSES, () => {
  /** The process of a forwarder, played by the test. */
  function played(words: string[], folder: string) {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    let heard = '';
    let noted = '';
    stdout.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    stderr.on('data', (chunk: Buffer) => (noted += chunk.toString()));
    const exits: number[] = [];
    const streams = Object.assign(new EventEmitter(), {
      stdin,
      stdout,
      stderr,
      argv: ['node', new URL('../../../dist/cli.js', import.meta.url).pathname, ...words],
      execPath: process.execPath,
      execArgv: [],
      env: process.env,
      cwd: () => folder,
      exit: (code: number) => void exits.push(code),
    }) as unknown as NodeJS.Process;
    const say = (message: JsonObject): void => void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return { streams, stdin, say, exits, heard: () => heard, noted: () => noted };
  }
  const initialize = {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };

  it('STORE-6 carries messages, goes on with a process of its own when the service cannot be started again, and leaves with its host', async () => {
    const folder = await temporaryDirectory();
    const config = join(folder, 'c.json');
    await writeFile(config, '{"servers": {}}');
    const state = join(folder, 'state');
    const { streams, stdin, say, exits, heard, noted } = played(
      ['serve', '--stdio', '--shared', '--config', config, '--state-dir', state],
      folder,
    );
    expect(await forwardHost(streams, alone)).toBe(true);
    say(initialize);
    await waitUntil(() => heard().includes('"id":0'), { what: 'the handshake' });
    const [service] = await askServices(state, 'status', systemClock);
    const { log } = readForwardOptions({ ...streams, cwd: folder })!.place;
    await writeFile(join(folder, 'kept'), '');
    await rm(log);
    await symlink(join(folder, 'kept'), log);
    process.kill(service!.pid, 'SIGKILL');
    await waitUntil(() => noted().includes('from now on'), { what: 'the fallback' });
    say({ id: 1, method: 'tools/list' });
    await waitUntil(() => heard().includes('"id":1'), { what: 'an answer of the process itself' });
    stdin.end();
    await waitUntil(() => exits.length > 0, { what: 'the end' });
    expect(exits[0]).toBe(0);
  });

  it('STORE-6 ends with a signal, and with a host that no longer reads', async () => {
    const folder = await temporaryDirectory();
    const config = join(folder, 'c.json');
    await writeFile(config, '{"servers": {}}');
    const state = join(folder, 'state');
    const words = ['serve', '--stdio', '--shared', '--config', config, '--state-dir', state, '--idle', '1'];
    for (const leave of [
      (streams: NodeJS.Process) => streams.emit('SIGTERM'),
      (streams: NodeJS.Process) => streams.stdout.emit('error', new Error('EPIPE')),
      (streams: NodeJS.Process) => streams.stdin.emit('error', new Error('gone')),
    ]) {
      const { streams, say, exits, heard } = played(words, folder);
      expect(await forwardHost(streams, alone)).toBe(true);
      say(initialize);
      await waitUntil(() => heard().includes('"id":0'), { what: 'the handshake' });
      leave(streams);
      expect(exits).toEqual([0]);
    }
    await askServices(state, 'stop', systemClock);
  });

  it('STORE-6 leaves the command to the full parser when it is no forwarder or no service is available', async () => {
    const folder = await temporaryDirectory();
    expect(await forwardHost(played(['serve', '--stdio'], folder).streams, alone)).toBe(false);
    await writeFile(join(folder, 'state'), 'a file');
    const words = ['serve', '--stdio', '--shared', '--state-dir', join(folder, 'state')];
    const { streams, noted } = played(words, folder);
    expect(await forwardHost(streams, alone)).toBe(false);
    expect(noted()).toContain('served by a process of its own');
  });
});
