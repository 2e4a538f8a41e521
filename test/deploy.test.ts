import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../src/front/http/metrics/metrics.js';
import { configReader } from '../src/app/open-gateway.js';
import { systemClock } from '../src/kernel/clock.js';
import type { JsonObject } from '../src/kernel/json.js';
import type { ConfigInput } from '../src/model/config.js';
import { openToolscout } from './support/open-toolscout.js';
import { fixture, temporaryDirectory } from './support/fixture.js';
import { commandLine } from './support/command-line.js';
import { STARTS_PROCESSES } from './support/patience.js';

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8');

/** The flags that `serve` knows. */
async function knownFlags(): Promise<Set<string>> {
  return new Set((await commandLine(['serve', '--help'])).stdout.match(/--[a-z-]+/g));
}

/** The parts of the manifests that are compared. */
interface Manifests {
  readonly ConfigMap: { readonly data: { readonly 'config.jsonc': string } };
  readonly Deployment: {
    readonly spec: {
      readonly replicas: number;
      readonly selector: { readonly matchLabels: JsonObject };
      readonly template: {
        readonly metadata: { readonly labels: JsonObject };
        readonly spec: {
          readonly securityContext: JsonObject;
          readonly volumes: readonly { readonly name: string }[];
          readonly containers: readonly {
            readonly ports: readonly JsonObject[];
            readonly securityContext: JsonObject;
            readonly volumeMounts: readonly { readonly name: string }[];
            readonly startupProbe: Probe;
            readonly livenessProbe: Probe;
            readonly readinessProbe: Probe;
          }[];
        };
      };
    };
  };
  readonly Service: { readonly spec: { readonly selector: JsonObject } };
  readonly PodDisruptionBudget: {
    readonly spec: { readonly minAvailable: number; readonly selector: { readonly matchLabels: JsonObject } };
  };
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

describe('what is deployed', STARTS_PROCESSES, () => {
  it('CLI-1 the image is built from the lock file, runs as another user than root and has a health check', async () => {
    const text = read('Dockerfile');
    const stages = text.split(/^FROM /m).slice(1);
    const last = stages.at(-1)!;
    expect(stages.map((stage) => stage.split(/\s/)[0])).toEqual(['node:20-slim', 'node:20-slim', 'node:20-slim']);
    expect(text.match(/npm (?:ci|install|i)\b/g)).toEqual(['npm ci', 'npm ci']);
    expect(last.indexOf('USER node')).toBeGreaterThan(-1);
    expect(last.slice(last.indexOf('USER node'))).not.toMatch(/^USER (?!node)/m);
    expect(last).toMatch(/^HEALTHCHECK [^]*?CMD .*127\.0\.0\.1:7077\/health/m);
    // The files that the package publishes are those that the image has.
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    for (const folder of ['dist', 'assets']) {
      expect(files).toContain(folder);
      expect(last).toContain(`/build/${folder} ${folder}`);
    }
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(last)![1]!) as string[];
    const known = await knownFlags();
    expect(command[0]).toBe('serve');
    for (const flag of command.filter((word) => word.startsWith('--'))) expect(known).toContain(flag);
  });

  it('CLI-1 the systemd unit starts serve, reloads with SIGHUP and takes rights away', async () => {
    const text = read('deploy/toolscout.service');
    const [, args = ''] = /^ExecStart=\S+ \S+cli\.js (.*)$/m.exec(text)!;
    const known = await knownFlags();
    expect(args).toMatch(/^serve /);
    for (const flag of args.match(/--[a-z-]+/g)!) expect(known).toContain(flag);
    for (const line of [
      'ExecReload=/bin/kill -HUP $MAINPID',
      'DynamicUser=yes',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'PrivateTmp=yes',
      'SystemCallFilter=@system-service',
      'UMask=0077',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('CLI-1 the units that back up the store name the database of the service', () => {
    expect(read('deploy/toolscout-backup.service')).toContain('/var/lib/toolscout/toolscout.db');
    expect(read('deploy/toolscout-backup.timer')).toContain('WantedBy=timers.target');
    expect(read('deploy/toolscout.service')).toContain('--state-dir /var/lib/toolscout');
  });

  it('STORE-3 the compose file runs three replicas over one database behind a proxy that knows all of them', () => {
    const compose = parse(read('deploy/compose.yaml'), { merge: true }) as { services: Record<string, JsonObject> };
    const names = Object.keys(compose.services);
    expect(names).toEqual(['toolscout-1', 'toolscout-2', 'toolscout-3', 'db', 'proxy']);
    const nginx = read('deploy/nginx.conf');
    for (const name of names.slice(0, 3)) {
      const { environment, user, read_only: isReadOnly, volumes, tmpfs } = compose.services[name]!;
      expect(user).toBe('1000:1000');
      expect(isReadOnly).toBe(true);
      // The folders that the image gives to its user are writable for that user.
      const [, state] = /--state-dir", "([^"]+)"/.exec(read('Dockerfile'))!;
      expect(tmpfs).toEqual(['/tmp', '/home/node:uid=1000,gid=1000', `${state}:uid=1000,gid=1000,mode=0700`]);
      expect(nginx).toContain(`server ${name}:7077 `);
      expect(read('deploy/config.jsonc')).toContain(`"${name}"`);
      const [config] = volumes as string[];
      expect(config).toBe('./config.jsonc:/etc/toolscout/config.jsonc:ro');
      // Every variable of the config is given, and nothing else but what toolscout reads itself.
      const named = new Set(
        read('deploy/config.jsonc')
          .match(/\$\{(\w+)\}/g)!
          .map((each) => each.slice(2, -1)),
      );
      const known = read('docs/configuration.md');
      for (const variable of named) expect(Object.keys(environment as JsonObject)).toContain(variable);
      for (const variable of Object.keys(environment as JsonObject)) {
        if (!named.has(variable)) expect(known).toContain(`\`${variable}\``);
      }
    }
    for (const { image } of Object.values(compose.services)) expect(image).toMatch(/:[\d.]+$/);
  });

  it('STORE-3 the manifests for Kubernetes fit each other, and their probes ask for what there is', () => {
    const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((each) => each.toJS() as JsonObject);
    const byKind = Object.fromEntries(documents.map((each) => [String(each['kind']), each])) as unknown as Manifests;
    expect(Object.keys(byKind)).toEqual(['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget']);
    const { spec } = byKind.Deployment;
    const labels = spec.template.metadata.labels;
    expect(spec.selector.matchLabels).toEqual(labels);
    expect(byKind.Service.spec.selector).toEqual(labels);
    expect(byKind.PodDisruptionBudget.spec.selector.matchLabels).toEqual(labels);
    expect(byKind.PodDisruptionBudget.spec.minAvailable).toBeLessThan(spec.replicas);
    const container = spec.template.spec.containers[0]!;
    expect(container.ports).toEqual([{ name: 'http', containerPort: 7077 }]);
    expect(read('Dockerfile')).toContain('EXPOSE 7077');
    const paths = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
      ({ httpGet }) => httpGet.path,
    );
    expect(paths).toEqual(['/health', '/health', '/ready']);
    const volumes = spec.template.spec.volumes.map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
    expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
    expect(JSON.parse(byKind.ConfigMap.data['config.jsonc'])).toHaveProperty('http.auth.keys');
  });

  it('CFG-2 the config for replicas is valid, and so is that in the manifests', async () => {
    const folder = await temporaryDirectory();
    const env = {
      DB_HOST: 'db',
      ISSUES_TOKEN: 't'.repeat(20),
      TEAM_KEY: 'a'.repeat(32),
      METRICS_KEY: 'b'.repeat(32),
      OPS_KEY: 'c'.repeat(32),
      PGPASSWORD: 'secret',
      TOOLSCOUT_STORE_KEY: 'k'.repeat(32),
      HOME: folder,
    };
    const file = fileURLToPath(new URL('../deploy/config.jsonc', import.meta.url));
    const { config, warnings } = await configReader({ config: file, env, cwd: folder, stateDir: folder })();
    expect(warnings).toEqual([]);
    expect(config.store).toBe('postgres://toolscout@db:5432/toolscout');
    expect(config.http.auth?.keys).toHaveLength(3);
    const [map] = parseAllDocuments(read('deploy/kubernetes.yaml')).map(
      (each) => each.toJS() as Manifests['ConfigMap'],
    );
    const written = JSON.parse(map!.data['config.jsonc']) as ConfigInput;
    const other = await configReader({ config: written, env, cwd: folder, stateDir: folder })();
    expect(other.warnings).toEqual([]);
    expect(other.config.http.auth?.keys.map(({ name }) => name)).toEqual(['team', 'prometheus', 'ops']);
  });

  it('CLI-1 alerts and the dashboard ask for metrics and labels that /metrics has', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const metrics = createMetrics(gateway, systemClock);
    await metrics.gateway.servers.discover();
    await metrics.gateway.search('echo');
    await metrics.gateway.call('old', 'echo', { message: 'hi' });
    metrics.onAnswer('/v1/tools', 200);
    // Tokens are counted when their records are stored.
    await expect.poll(() => metrics.text()).toMatch(/^toolscout_tokens_total\{/m);
    const text = await metrics.text();
    const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
      panels: { id: number; title: string; gridPos: object; targets: { expr: string }[] }[];
    };
    const alerts = parse(read('deploy/alerts.yaml')) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
    };
    const rules = alerts.groups.flatMap((group) => group.rules);
    const queries = /^\s*```promql\n([^]*?)```/gm;
    const inDocs = [...read('docs/operate.md').matchAll(queries)].map(([, query]) => query!);
    const expressions = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...rules.map(({ expr }) => expr),
      ...inDocs,
    ];
    expect(expressions.length).toBeGreaterThan(20);
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const expression of expressions) {
      const names = expression.match(/\b(?:toolscout|tools|process|nodejs)_\w+/g) ?? [];
      for (const name of names) expect(text, expression).toMatch(new RegExp(`^${name}[{ ]`, 'm'));
      for (const [, name, inside] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
        if (name === 'up') continue;
        const labels = inside!.match(/\w+(?=[!=]~?=?")/g) ?? [];
        for (const label of labels)
          expect(
            lines.some((line) => line.startsWith(`${name}{`) && line.includes(`${label}="`)),
            expression,
          ).toBe(true);
      }
      for (const [, label, name] of expression.matchAll(
        /by \((server|outcome|state|knowledge|status|part|result)\) \((?:rate\()?(\w+)/g,
      )) {
        expect(
          lines.some((line) => line.startsWith(`${name}{`) && line.includes(`${label}="`)),
          expression,
        ).toBe(true);
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { annotations } of rules) expect(annotations.summary).toMatch(/\.$/);
  });
});
