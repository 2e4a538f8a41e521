import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { CODE_TICKET } from '../../code-ticket.js';
import type { StoreAnswer } from '../context.js';

const ADDRESS = /\/#\/sign-in\?code=([\w-]{43})/;

describe('toolscout studio', STARTS_PROCESSES, () => {
  it('STUDIO-6 opens the page of a toolscout that runs, with a code of its store', async () => {
    const gateway = await openToolscout({ http: { host: '::1', port: 7099 } });
    const opened: string[] = [];
    const asked: string[] = [];
    const ran = await commandLine(['studio'], {
      gateway: { ...gateway, close: async () => undefined },
      readConfig: async () => gateway.internal.loaded(),
      isServing: async (url) => asked.push(url) > 0,
      openBrowser: async (url) => void opened.push(url),
    });
    expect([ran.code, asked, ran.served]).toEqual([0, ['http://[::1]:7099'], []]);
    const code = ADDRESS.exec(opened[0]!)![1]!;
    expect(ran.stdout).toContain(opened[0]!);
    expect(await gateway.sessions.takeTicket(CODE_TICKET, code)).toBe(true);
  });

  it('STUDIO-6 signs in to the toolscout at another port than that of the config', async () => {
    const gateway = await openToolscout({ http: { publicUrl: 'https://tools.example.com/' } });
    const around = {
      gateway: { ...gateway, close: async () => undefined },
      readConfig: async () => gateway.internal.loaded(),
      openBrowser: async () => undefined,
    };
    const asked: string[] = [];
    await commandLine(['studio', '--port', '7391'], { ...around, isServing: async (url) => asked.push(url) > 0 });
    expect(asked).toEqual(['http://127.0.0.1:7391']);
    const started = await commandLine(['studio', '-p', '7391'], { ...around, isServing: async () => false });
    expect(started.served).toMatchObject([{ port: 7391 }]);
  });

  it('STUDIO-6 refuses to print an address of a toolscout that keeps its state elsewhere', async () => {
    const gateway = await openToolscout({ http: { port: 7391 } });
    const run = (answer: StoreAnswer): ReturnType<typeof commandLine> =>
      commandLine(['studio', '--no-open'], {
        gateway: { ...gateway, close: async () => undefined },
        readConfig: async () => gateway.internal.loaded(),
        isServing: async () => true,
        askStore: async () => answer,
      });
    const other = await run({ sharesStore: false, stateDir: "/it's/state" });
    expect([other.code, other.stdout]).toEqual([2, '']);
    expect(other.stderr).toContain('The gateway on port 7391 uses another state directory or database.');
    expect(other.stderr).toContain(String.raw`Pass --state-dir '/it'\''s/state'.`);
    const database = await run({ sharesStore: false, config: '/my tools.yaml' });
    expect(database.stderr).toContain("Pass --config '/my tools.yaml'.");
    const both = await run({ sharesStore: false, stateDir: '/s', config: '/c.yaml' });
    expect(both.stderr).toContain('Pass --state-dir /s --config /c.yaml.');
    expect((await run({ sharesStore: false })).stderr).toContain('that it was started with');
    expect((await run({ sharesStore: false, stateDir: 'memory' })).stderr).toContain('start it with --admin');
    // An older toolscout does not say.
    expect((await run({})).stdout).toMatch(ADDRESS);
  });

  it('STUDIO-6 starts a server when none runs; prints the address without a browser', async () => {
    const gateway = await openToolscout({ http: { publicUrl: 'https://tools.example.com/' } });
    const around = {
      readConfig: async () => gateway.internal.loaded(),
      serve: async ({ onStudio }: { readonly onStudio?: (url: string) => Promise<void> }) =>
        onStudio?.('http://127.0.0.1:7077/#/sign-in?code=x'),
    };
    const ran = await commandLine(['studio'], around);
    expect(ran.served).toMatchObject([{ stdio: false, watch: true, logLevel: 'warn' }]);
    expect(ran.stdout).toContain('http://127.0.0.1:7077/#/sign-in?code=x');
    expect(ran.stderr).toContain('could not be opened');
    const quiet = await commandLine(['studio', '--no-open', '--verbose'], around);
    expect([quiet.stderr, quiet.served[0]?.logLevel]).toEqual(['', 'debug']);
    const json = await commandLine(['studio', '--json'], around);
    expect(JSON.parse(json.stdout)).toEqual({ url: 'http://127.0.0.1:7077/#/sign-in?code=x', started: true });
  });
});
