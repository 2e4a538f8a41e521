import { spawn } from 'node:child_process';
import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/fixture.js';
import { CLI, finish, lineMatching, workplace } from '../support/toolscout.js';
import { commandLine } from '../support/command-line.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const COMMANDS = [
  'init',
  'add',
  'remove',
  'serve',
  'studio',
  'servers',
  'search',
  'tools',
  'inspect',
  'call',
  'run',
  'discover',
  'export',
  'warm',
  'auth',
  'auth login',
  'auth status',
  'auth logout',
  'registry',
  'registry search',
  'registry show',
  'registry add',
  'config',
  'config validate',
  'config show',
  'config approve',
  'secret',
  'secret set',
  'secret list',
  'secret remove',
  'cache',
  'cache stats',
  'cache clear',
  'service',
  'service status',
  'service stop',
  'store',
  'store status',
  'store accept',
  'import',
  'install',
  'skills',
  'skills list',
  'skills check',
  'skills bind',
  'skills watch',
  'audit',
  'audit verify',
  'audit export',
  'stats',
  'doctor',
  'eval',
  'why',
  'pending',
  'lock',
  'approve',
  'reject',
  'diff',
  'scan',
];

const real = (name: string, ...args: string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [
    fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url)),
    ...args,
  ],
});

describe('the command line', STARTS_PROCESSES, () => {
  it('CLI-1 the built file can be run as a program', async () => {
    expect((await stat(CLI)).mode & 0o777).toBe(0o755);
    expect(await finish(spawn(CLI, ['--version']))).toMatchObject({ code: 0, stderr: '' });
  });

  it('CLI-1 every command has help with an example', async () => {
    const place = await workplace({});
    // Starting a process for each would take longer than all the rest; one shows that the built command line prints the same.
    for (const command of COMMANDS) {
      const help = await commandLine([...command.split(' '), '--help']);
      expect(help.code, command).toBe(0);
      expect(help.stdout, command).toMatch(/Usage: toolscout/);
      expect(help.stdout, command).toMatch(/Examples?:\n\s+\$ toolscout/);
    }
    const { stdout } = await commandLine(['search', '--help']);
    expect(await place.run('search', '--help')).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('CLI-2 a command line that makes no sense ends with 64 and says what to do', async () => {
    const place = await workplace({});
    const unknown = await place.run('serach', 'x');
    expect(unknown.code).toBe(64);
    expect(unknown.stderr).toMatch(/Did you mean search/);
    expect((await place.run('search')).code).toBe(64);
    expect((await place.run('search', 'x', '--limit', 'many')).code).toBe(64);
    expect((await place.run('call', 'nowhere')).code).toBe(64);
  });

  it('FIND-1 CLI-1 search, inspect and call work against real servers', async () => {
    const place = await workplace({});
    await place.write({
      servers: { everything: real('everything', 'stdio'), filesystem: real('filesystem', place.folder) },
      limits: { searchWaitMs: 30_000 },
    });
    await writeFile(join(place.folder, 'note.txt'), 'remember the milk');

    const search = await place.run('search', 'read a text file', '--json');
    expect(search.code).toBe(0);
    const answer = JSON.parse(search.stdout) as { hits: Array<{ server: string; tool: string; relevance: number }> };
    expect(answer.hits[0]).toMatchObject({ server: 'filesystem', tool: 'read_text_file' });

    const inspect = await place.run('inspect', 'everything', 'echo');
    expect(inspect.code).toBe(0);
    expect(inspect.stdout).toContain('message: string required');

    const call = await place.run('call', 'filesystem', 'read_text_file', `path=${join(place.folder, 'note.txt')}`);
    expect(call).toMatchObject({ code: 0, stdout: 'remember the milk\n' });

    const sum = await place.run('call', 'everything:get-sum', 'a=1', 'b=2', '--json');
    expect(JSON.parse(sum.stdout)).toMatchObject({ success: true });
  });

  it('CLI-2 EXEC-3 PAT-5 exit codes tell apart nothing found, failed, and refused', async () => {
    const place = await workplace({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: '*crash*', enabled: false }],
    });
    const nothing = await place.run('search', 'zzzzqqqq');
    expect(nothing.code).toBe(2);
    const unknownTool = await place.run('call', 'old', 'ecko');
    expect(unknownTool.code).toBe(2);
    expect(unknownTool.stderr).toContain('"echo"');
    expect((await place.run('call', 'odl', 'echo')).stderr).toContain('"old"');
    expect((await place.run('call', 'old', 'fail')).code).toBe(3);
    const invalid = await place.run('call', 'old', 'echo', '--json');
    expect(invalid.code).toBe(3);
    expect(JSON.parse(invalid.stdout)).toMatchObject({ success: false, error: { code: 'TOOL_VALIDATION_ERROR' } });
    const refused = await place.run('call', 'old', 'crash');
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('rule 1 (pattern');
    expect((await place.run('inspect', 'old', 'crash')).code).toBe(4);
  });

  it('FIND-5 why says which rule keeps a tool away, and which name was meant', async () => {
    const place = await workplace({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: '*crash*', enabled: false }],
    });
    const ruled = await place.run('why', 'old:crash');
    expect(ruled.code).toBe(4);
    expect(ruled.stdout).toContain('disabled by rule 1 (pattern');
    expect(await place.run('why', 'old', 'echo')).toMatchObject({ code: 0 });
    const unknown = await place.run('why', 'old', 'eco');
    expect(unknown.code).toBe(2);
    expect(unknown.stdout).toContain('"echo"');
  });

  it('CFG-3 config validate reports every problem at once and ends with 2', async () => {
    const place = await workplace({});
    await writeFile(
      place.configFile,
      JSON.stringify({ toolRules: [{ patern: 'x' }], servers: { a: { comand: 'x' }, b: { url: 'ftp://x' } }, cach: 1 }),
    );
    const report = await place.run('config', 'validate', '--json');
    expect(report.code).toBe(2);
    const { problems } = JSON.parse(report.stdout) as { problems: Array<{ path: string; message: string }> };
    const lines = problems.map(({ path, message }) => `${path}: ${message}`).join('\n');
    expect(lines).toContain('toolRules[0].patern: unknown key; did you mean "pattern"?');
    expect(lines).toContain('servers.a.comand: unknown key; did you mean "command"?');
    expect(lines).toMatch(/servers\.b\.url/);
    expect(lines).toContain('cach: unknown key; did you mean "cache"?');
    expect((await place.run('servers')).code).toBe(2);
  });

  it('CFG-4 A33 an expanded secret is in no output', async () => {
    const place = await workplace({});
    const secret = 'canary-7f3a9c21';
    await place.write({
      servers: {
        good: { ...fixture('legacy'), env: { API_TOKEN: secret } },
        bad: { command: 'does-not-exist', args: ['--token', secret], env: { API_TOKEN: secret } },
        missing: { ...fixture('legacy'), env: { TOKEN: '${TOOLSCOUT_TEST_UNSET}' } },
        remote: { url: `http://127.0.0.1:9/mcp?key=${secret}`, headers: { Authorization: `Bearer ${secret}` } },
      },
    });
    const runs = await Promise.all([
      place.run('doctor'),
      place.run('servers', '--json'),
      place.run('config', 'show'),
      place.run('discover', '--json', '--verbose'),
      place.run('audit', '--json'),
    ]);
    for (const run of runs) expect(run.stdout + run.stderr).not.toContain(secret);
    const servers = JSON.parse(runs[1].stdout) as { servers: Array<{ id: string; problem?: string }> };
    expect(servers.servers.find(({ id }) => id === 'missing')?.problem).toContain('TOOLSCOUT_TEST_UNSET');
  });

  it('CLI-3 STORE-2 doctor checks config, store and every server and says what to do next', async () => {
    const place = await workplace({
      servers: { old: fixture('legacy'), gone: { command: 'does-not-exist' }, mixed: fixture('malformed') },
    });
    const report = await place.run('doctor');
    expect(report.code).toBe(1);
    expect(report.stdout).toMatch(/✓ config/);
    expect(report.stdout).toContain(join(place.folder, 'state'));
    expect(report.stdout).toMatch(/✓ server old {2}2024-11-05 over stdio/);
    expect(report.stdout).toMatch(/✗ server gone/);
    expect(report.stdout).toMatch(/→ install it, or write its full path in the config: does-not-exist/);
    expect(report.stdout).toMatch(/! lists mixed.*malformed entries left out/);
  });

  it('CLI-3 CFG-3 doctor reports on a config and a state directory that cannot be used', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    const servers = { old: fixture('legacy', `--start-file=${starts}`) };
    await writeFile(place.configFile, JSON.stringify({ servers, cach: 1 }));
    const named = ['--config', place.configFile];
    const child = spawn(process.execPath, [CLI, 'doctor', ...named, '--state-dir', join(place.folder, 'state')], {
      cwd: place.folder,
    });
    const found = await finish(child);
    expect(found.code).toBe(2);
    expect(found.stdout).toContain('✗ config  cach: unknown key; did you mean "cache"?');
    expect(found.stdout).toContain(`→ fix it in ${place.configFile}`);
    expect(found.stdout).toContain(`✓ store  ${join(place.folder, 'state')}`);
    await expect(readFile(starts)).rejects.toThrow('ENOENT');

    await place.write({ servers });
    const blocked = spawn(process.execPath, [CLI, 'doctor', '--json', ...named, '--state-dir', place.configFile], {
      cwd: place.folder,
    });
    const report = await finish(blocked);
    expect(report.code).toBe(1);
    const { findings } = JSON.parse(report.stdout) as { findings: Array<{ subject: string; level: string }> };
    expect(findings.map(({ subject, level }) => `${level} ${subject}`)).toEqual(
      expect.arrayContaining(['ok config', 'error store', 'ok server old']) as string[],
    );
  });

  it('CLI-1 R7 a closed stderr ends neither a command nor a gateway that serves', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const command = place.start('call', 'old', 'echo', 'message=hi', '--verbose');
    command.stderr?.destroy();
    expect(await finish(command)).toMatchObject({ code: 0, stdout: 'hi\n' });

    const serving = place.start('serve', '--stdio', '--verbose');
    serving.stderr?.destroy();
    const answered = lineMatching(serving, /"id":"after".*/);
    // Each of these lines is logged.
    serving.stdin?.write('not JSON\n'.repeat(3));
    const clientInfo = { name: 'host', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    serving.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await lineMatching(serving, /"id":1/);
    serving.stdin?.write('not JSON\n'.repeat(3));
    serving.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'after', method: 'ping' })}\n`);
    await answered;
  });

  it('CLI-1 serve proposes commands that work with the servers there are', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const serving = place.start('serve', '--port', '0');
    const [own] = await lineMatching(serving, /[\s\S]*Ctrl-C/);
    expect(own).toContain('1 server from ');
    const flags = place.flags.join(' ');
    expect(own).toContain(`npx toolscout servers ${flags}\n`);
    expect(own).toContain(`npx toolscout search "…" ${flags}\n`);
    expect(own).not.toMatch(/filesystem|everything/);

    const demo = spawn(process.execPath, [CLI, 'serve', '--demo', '--port', '0', '--state-dir', 'memory'], {
      cwd: place.folder,
    });
    onTestFinished(() => void demo.kill('SIGKILL'));
    const [shown] = await lineMatching(demo, /[\s\S]*Ctrl-C/);
    expect(shown).toContain('3 servers from the demo\n');
    expect(shown).toContain('npx toolscout inspect everything echo --demo --state-dir memory\n');
  });

  it('EXEC-5 META-6 a call that is interrupted is cancelled at its server, and recorded', async () => {
    const place = await workplace({ servers: { slow: fixture('slow') } });
    await place.run('warm');
    const call = place.start('call', 'slow', 'wait', 'ms=20000', 'steps=100', '--verbose');
    await lineMatching(call, /"to":"connected"/);
    const ended = finish(call);
    call.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 3, stdout: '' });
    const audit = await place.run('audit', '--kind', 'execution', '--json');
    expect(JSON.parse(audit.stdout)).toMatchObject({
      records: [{ tool: 'wait', outcome: 'failure', code: 'CANCELLED' }],
    });
  });

  it('CLI-1 CLI-2 output that cannot be written is one sentence and a failure', async () => {
    const place = await workplace({});
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [CLI, 'config', 'show', ...place.flags], {
      stdio: ['ignore', full.fd, 'pipe'],
    });
    const { code, stderr } = await finish(child);
    await full.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The output cannot be written: ENOSPC[^\n]*\n$/m);
    expect(stderr).not.toContain('    at ');
  });

  it('EXEC-5 audit shows what was done, with secrets in arguments redacted', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    await place.run('call', 'old', 'echo', 'message=hi');
    await place.run('call', 'old', 'structured', 'value:={"password":"hunter22"}');
    const audit = await place.run('audit', '--kind', 'execution', '--json');
    const { records } = JSON.parse(audit.stdout) as { records: Array<Record<string, unknown>> };
    expect(records).toHaveLength(2);
    expect(records[1]).toMatchObject({ server: 'old', tool: 'echo', outcome: 'success', route: 'cli', era: 'legacy' });
    expect(audit.stdout).not.toContain('hunter22');
  });

  it('DISC-4 cache clear forgets, and the next search learns again', async () => {
    const place = await workplace({});
    const starts = join(place.folder, 'starts');
    await place.write({ servers: { old: fixture('legacy', `--start-file=${starts}`) } });
    await place.run('warm');
    await place.run('search', 'echo');
    const count = async (): Promise<number> => (await readFile(starts, 'utf8')).trim().split('\n').length;
    expect(await count()).toBe(1);
    expect((await place.run('cache', 'clear', 'old')).stdout).toBe('1 list forgotten\n');
    await place.run('search', 'echo');
    expect(await count()).toBe(2);
  });
});
