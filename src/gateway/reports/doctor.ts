import { missingVariables } from '../../model/server.js';
import { isAbsolute } from 'node:path';
import { describePending, type LoadedConfig } from '../../config/index.js';
import type { Pool } from '../../connect/index.js';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { describeRemedy, shellWord } from '../../kernel/remedy.js';
import { CLOCK_SLACK_MS } from '../../kernel/expiry.js';
import { withoutRetryHint } from '../../kernel/retry-hint.js';
import { counted, oneLine } from '../../kernel/text.js';
import type { Server } from '../../model/server.js';
import { DOUBT_PHRASES, type Store, type StoreDoubt } from '../../model/store.js';
import { remarksOn } from '../../store/index.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { Learner } from '../../catalog/learning/learner.js';
import { findListFaults, tellListFaults, type ListFindings } from './list-findings.js';
import { findSchemaFaults, type SchemaFindings } from './schema-findings.js';
import { tryStore } from './store-status.js';
import { problemOf } from '../../catalog/views.js';
import { correctionOf } from '../unusable-server.js';
import { isUsable } from '../../catalog/catalog.js';

/** One thing that was looked at. */
export interface Finding {
  readonly subject: string;
  readonly level: 'ok' | 'warning' | 'error';
  readonly message: string;
  /** What to do next, where something is to be done. */
  readonly next?: string;
  /** The last lines a local server wrote to stderr, where that helps. */
  readonly stderr?: string;
}

/** What `doctor` found (CLI-3). */
export interface DoctorReport {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** Feedback on tools for the authors of servers (NEG-8). */
  readonly schemas: readonly SchemaFindings[];
  /** Entries of lists that hosts are shown repaired, or not at all, by server (META-5). */
  readonly lists: readonly ListFindings[];
}

/** How a check is followed while it runs. */
export interface DoctorOptions {
  /** Called with each finding as soon as there is one. */
  readonly onFinding?: (finding: Finding) => void;
  /** Called with the servers that have not answered yet. */
  readonly onWaiting?: (servers: readonly string[]) => void;
}

interface Patient {
  readonly loaded: LoadedConfig;
  readonly catalog: Catalog;
  readonly learner: Learner;
  readonly pool: Pool;
  readonly store: Store;
  /** Why nothing in the store is trusted. */
  readonly doubt?: StoreDoubt;
  readonly hide: (text: string) => string;
  readonly clock: Clock;
  /** How much of a server waits for approval. */
  readonly waiting: (server: Server) => number;
}

/** Lines of stderr worth showing for a server that failed. */
const STDERR_LINES = 8;

/** Which local servers run in a sandbox, and which do not (A49). */
function examineSandboxes(servers: readonly Server[]): Finding[] {
  const local = servers.filter(({ transport }) => transport.type === 'stdio');
  const isBoxed = ({ transport }: Server): boolean => transport.type === 'stdio' && transport.sandbox !== undefined;
  const free = local.filter((server) => !isBoxed(server)).map(({ id }) => id);
  if (free.length === local.length) return [];
  const rest = free.length === 0 ? '' : `; without one: ${free.join(', ')}`;
  const message = `${free.length === 0 ? 'every local server runs' : `${local.length - free.length} of ${counted(local.length, 'local server')} run`} in a sandbox${rest}`;
  return [{ subject: 'config', level: 'ok', message }];
}

function examineConfig({ loaded }: Patient): Finding[] {
  const where = loaded.path ?? loaded.source;
  const findings: Finding[] = [
    {
      subject: 'config',
      level: 'ok',
      message: `${where}: ${counted(loaded.servers.length, 'server')}, ${counted(loaded.config.toolRules.length, 'rule')}`,
    },
  ];
  const told = new Set(loaded.servers.map(({ problem }) => problem));
  for (const warning of loaded.warnings) {
    // The finding about the server says it.
    if (told.has(warning.message)) continue;
    findings.push({ subject: 'config', level: 'warning', message: `${warning.path}: ${warning.message}` });
  }
  if (loaded.pending) {
    const { message, next } = describePending(loaded.pending);
    findings.push({ subject: 'config', level: 'warning', message: `${loaded.pending.path} ${message}`, next });
  }
  findings.push(...examineSandboxes(loaded.servers));
  if (loaded.servers.length === 0) {
    findings.push({
      subject: 'config',
      level: 'warning',
      message: 'no server is configured',
      next: 'import those of other clients: toolscout import; or add one under "servers" in the config',
    });
  }
  return findings;
}

/** Whether the store keeps what is given to it; where it is, in any case. */
export async function examineStore({
  store,
  clock,
  hide,
  doubt,
}: Pick<Patient, 'store' | 'clock' | 'hide' | 'doubt'>): Promise<Finding[]> {
  try {
    await tryStore(store, clock);
    const remarks = isAbsolute(store.location) ? await remarksOn(store.location) : [];
    return [
      { subject: 'store', level: 'ok', message: store.location },
      ...(doubt ? [tellDoubt(doubt)] : []),
      ...remarks.map((remark): Finding => ({ subject: 'store', level: 'warning', ...remark })),
      ...tellSkew(store.aheadMs?.() ?? 0),
    ];
  } catch (thrown) {
    return [
      {
        subject: 'store',
        level: 'error',
        message: `${store.location}: ${hide(messageOf(thrown))}`,
        next:
          isAbsolute(store.location) || !(thrown instanceof ToolscoutError)
            ? 'check that the directory is writable and has space, or choose another with --state-dir'
            : thrown.suggestion,
      },
    ];
  }
}

/** Replicas whose clocks differ too much refuse what others gave out, since it seems to be over or not to have begun. */
function tellSkew(aheadMs: number): Finding[] {
  if (Math.abs(aheadMs) <= CLOCK_SLACK_MS) return [];
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    {
      subject: 'store',
      level: 'warning',
      message: `the clock of this machine is ${Math.round(Math.abs(aheadMs) / 1000)} s ${side} that of the database`,
      next: 'set the clocks of every replica and of the database by NTP',
    },
  ];
}

function tellDoubt({ reason }: StoreDoubt): Finding {
  return {
    subject: 'store',
    level: 'error',
    message: `${DOUBT_PHRASES[reason]}; what you approved or rejected may be missing, so no server is used`,
    next: 'restore the file, or accept it as it is: toolscout store accept',
  };
}

async function examineServer(server: Server, patient: Patient): Promise<Finding> {
  const { catalog, learner, pool, hide } = patient;
  const subject = `server ${server.id}`;
  if (!server.enabled) return { subject, level: 'ok', message: 'disabled in the configuration' };
  const hold = catalog.hold(server.id);
  if (hold) {
    const next =
      hold.state === 'rejected'
        ? `take it out of the config, or trust it after all: toolscout approve ${shellWord(server.id)}`
        : describeRemedy(hold.remedy);
    return { subject, level: 'warning', message: hold.reason, next };
  }
  if (!isUsable(server)) {
    const names = missingVariables(server.problem ?? '');
    const next =
      names.length === 0
        ? correctionOf(server, patient.loaded)
        : `set ${names.length === 1 ? 'it' : 'them'}: ${names.map((name) => `toolscout secret set ${name}`).join(', ')}`;
    return { subject, level: 'error', message: problemOf(server, patient) ?? 'unusable', next };
  }
  try {
    await learner.learn(server);
    const latency = await pool.ping(server);
    const health = pool.health(server.id);
    const noise = health.noise
      ? `, ${counted(health.noise, 'line on stdout that was', 'lines on stdout that were')} not protocol`
      : '';
    const tools = catalog.index.tools(server.id);
    const offered = tools.filter((tool) => tool.status === 'enabled').length;
    const waiting = patient.waiting(server);
    const unlocked = tools.filter(({ hold: of }) => of?.decidedBy === 'lock').length;
    const facts = [
      `${health.protocolVersion} over ${server.transport.type}`,
      `answers in ${latency.toFixed(1)} ms`,
      `${offered} of ${counted(tools.length, 'tool')} offered`,
      ...someOf(waiting, 'waits for approval', 'wait for approval'),
      ...someOf(unlocked, 'tool differs from the lock file', 'tools differ from the lock file'),
    ];
    return {
      subject,
      level: waiting + unlocked > 0 ? 'warning' : 'ok',
      message: `${facts.join(', ')}${noise}`,
      ...(waiting > 0 && { next: `look at ${waiting === 1 ? 'it' : 'them'}: toolscout pending` }),
      ...(unlocked > 0 && { next: describeRemedy({ kind: 'accept-lock' }) }),
    };
  } catch (thrown) {
    const stderr = pool.stderr(server.id).trimEnd().split('\n').slice(-STDERR_LINES).join('\n');
    return {
      subject,
      level: 'error',
      // A report is read later, and by others.
      message: withoutRetryHint(hide(messageOf(thrown))),
      next: nextFor(server, thrown),
      ...(stderr ? { stderr: hide(stderr) } : {}),
    };
  }
}

function nextFor({ transport, shown }: Server, thrown: unknown): string {
  if (thrown instanceof ToolscoutError) {
    const { code, remedy, suggestion } = thrown;
    if (code === 'AUTHENTICATION_FAILED') return suggestion;
    // What the error advises is more exact; it names neither the command nor the URL, because agents read it too.
    if (remedy.kind === 'configure') {
      return `${suggestion.charAt(0).toLowerCase()}${suggestion.slice(1).replace(/\.$/, '')}: ${shown.target}`;
    }
  }
  return transport.type === 'stdio'
    ? `run its command by hand: ${shown.target}`
    : `check that it runs and that the URL is right: ${shown.target}`;
}

function someOf(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [counted(count, one, many)];
}

/** Characters of the name and version that a server gives itself. */
const MAX_AUTHORED = 80;

/** A server under the name that its author gave it, unless that is in doubt; on one line, so that it adds none of its own (A16). */
function authored(server: string, catalog: Catalog): string {
  const { name = server, version = '' } = catalog.items(server)?.facts.info ?? {};
  return oneLine(`${name} ${version}`, MAX_AUTHORED);
}

/** In one line which entries of its lists hosts do not see as the server wrote them; all of them are in `lists`. */
function tellLists(findings: ListFindings, catalog: Catalog): Finding[] {
  const message = tellListFaults(findings);
  if (message === undefined) return [];
  const next = `tell the author of ${authored(findings.server, catalog)}; doctor --json names all of them`;
  return [{ subject: `lists ${findings.server}`, level: 'warning', message, next }];
}

/** Feedback for the author of a server on one line; the names are in `schemas`. */
function tellSchemas(
  { server, tools, invalid, undescribed, withoutOutput }: SchemaFindings,
  catalog: Catalog,
): Finding[] {
  const faults = [
    ...someOf(invalid.length, 'schema is not valid JSON Schema', 'schemas are not valid JSON Schema'),
    ...someOf(undescribed.length, 'has no description', 'have no description'),
    ...someOf(withoutOutput.length, 'declares no output', 'declare no output'),
  ];
  if (faults.length === 0) return [];
  const [first] = invalid;
  const example = first ? ` (${first.tool}, ${first.field}: ${first.problem})` : '';
  // Hardly any server declares all its outputs; that alone is not worth a report.
  const isWorthTelling = first !== undefined || undescribed.length > 0;
  return [
    {
      subject: `schemas ${server}`,
      level: isWorthTelling ? 'warning' : 'ok',
      message: `of ${counted(tools, 'tool')}: ${faults.join(', ')}${example}`,
      ...(isWorthTelling && {
        next: `tell the author of ${authored(server, catalog)}; doctor --json names the tools`,
      }),
    },
  ];
}

/** Looks at the configuration, the store and every server, and says what to do next (CLI-3). */
export async function examine(patient: Patient, { onFinding, onWaiting }: DoctorOptions = {}): Promise<DoctorReport> {
  const { catalog, loaded } = patient;
  const tell = <Found extends Finding | readonly Finding[]>(found: Found): Found => {
    for (const finding of [found].flat() as Finding[]) onFinding?.(finding);
    return found;
  };
  const config = tell(examineConfig(patient));
  const waiting = new Set(catalog.servers.keys());
  onWaiting?.([...waiting]);
  const examineNext = async (server: Server): Promise<Finding> => {
    const finding = await examineServer(server, patient);
    waiting.delete(server.id);
    tell(finding);
    onWaiting?.([...waiting]);
    return finding;
  };
  const [store, servers] = await Promise.all([
    examineStore(patient).then(tell),
    Promise.all([...catalog.servers.values()].map(examineNext)),
  ]);
  const schemas = await findSchemaFaults(loaded.servers.map(({ id }) => ({ id, tools: catalog.index.tools(id) })));
  const lists = loaded.servers
    .map(({ id }) => findListFaults(id, catalog.index.tools(id), catalog.list(id)))
    .filter(({ repaired, leftOut }) => repaired.length + leftOut.length > 0);
  const told = [
    ...lists.flatMap((each) => tellLists(each, catalog)),
    ...schemas.flatMap((each) => tellSchemas(each, catalog)),
  ];
  const findings = [...config, ...store, ...servers, ...tell(told)];
  return { ok: findings.every((finding) => finding.level !== 'error'), findings, schemas, lists };
}
