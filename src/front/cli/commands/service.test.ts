import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';

const running = { pid: 7, version: '1.2.3', config: '/c.json', hosts: 2, servers: 3, startedAt: 0 };

describe('toolscout service', () => {
  it('STORE-6 shows the services that run, and says when none runs', async () => {
    const services = async (): Promise<(typeof running)[]> => [running];
    const { stdout } = await commandLine(['service', 'status'], { services });
    expect(stdout).toMatch(/^process 7, version 1\.2\.3, 2 hosts, started .+: \/c\.json\n$/);
    const { stdout: json } = await commandLine(['service', 'status', '--json'], { services });
    expect(JSON.parse(json)).toEqual({ services: [running] });
    expect((await commandLine(['service', 'status'])).stdout).toContain('No service runs');
  });

  it('STORE-6 stops them in the state directory that is named', async () => {
    const asked: unknown[] = [];
    const services = async (...args: unknown[]): Promise<(typeof running)[]> => {
      asked.push(args);
      return [running];
    };
    const { stdout } = await commandLine(['service', 'stop', '--state-dir', '/s'], { services });
    expect(stdout).toContain('Stopped process 7');
    expect(asked).toEqual([['stop', '/s']]);
    const { stdout: json } = await commandLine(['service', 'stop', '--json'], { services });
    expect(JSON.parse(json)).toEqual({ stopped: [running] });
    expect((await commandLine(['service', 'stop'])).stdout).toContain('No service runs');
  });
});
