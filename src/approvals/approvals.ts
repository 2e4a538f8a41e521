import { addressOf } from '../kernel/ids.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { printable } from '../kernel/text.js';
import { cooperatively } from '../kernel/async/cooperative.js';
import type { Approval, ApprovalDiff } from '../model/approval.js';
import type { LockGate } from '../model/lock.js';
import type { Server } from '../model/server.js';
import type { Store, StoreDoubt } from '../model/store.js';
import { compareJson } from './compare.js';
import {
  holdInDoubt,
  holdServer,
  isExpired,
  isWeighed,
  judgeServer,
  takeIn,
  weighSeen,
  type ApprovalPolicy,
  type Asked,
  type Circumstances,
  type Hold,
  type Judgement,
  type Known,
  type Seen,
  type SeenTool,
} from './decide.js';
import { createDefinitions, LARGE } from './definitions.js';
import { launchOf, originOf, presentationOf, type Presentation } from './fingerprint.js';
import { createLedger, type ChangedServers, type UnsavedFlag } from './ledger.js';
import { holdByLock, judgeByLock } from './lock-policy.js';
import { recordKey, type TrustRecord } from './record.js';
import { evidenceIn, weighServer } from './risk.js';
import {
  approvalsOf,
  approveIn,
  askedSubjects,
  rejectIn,
  standingOf,
  type Answer,
  type ChosenSubject,
  type Subject,
} from './rulings.js';
import { unpinnedFilesOf } from './script-files.js';

/** Who is trusted with what: pins, requests and decisions, shared by all processes of a store (SEC-9). */
export interface Approvals {
  /** Reads what is stored, once. Before that nothing is trusted. */
  load(): Promise<void>;
  /** Why a server may not be started; `undefined` when it may. */
  hold(server: Server, policy: ApprovalPolicy): Hold | undefined;
  /** The trust in a server and each of its tools, given the server's own description. */
  judge(server: Server, presentation: Presentation, policy: ApprovalPolicy): Judgement;
  /**
   * Takes in a list: pins what is trusted, asks for the rest; durable when it resolves. `fresh` says that
   * the server gave it just now, `previous` which list was known before. Answers the requests that are new.
   */
  admit(
    server: Server,
    seen: Seen,
    how: { readonly policy: ApprovalPolicy; readonly fresh: boolean } & Pick<Circumstances, 'previous'>,
  ): Promise<Approval[]>;
  /**
   * Asks for the approval of servers that are held and not asked for yet. One that a project still names
   * after its request expired is asked for again; any other only with `renew`. Answers the requests that are new.
   */
  request(
    servers: readonly Server[],
    policy: ApprovalPolicy,
    options?: { readonly renew?: boolean },
  ): Promise<Approval[]>;
  /**
   * What is trusted of a server that these tools are not, as one text; empty when there is nothing. The list they come from
   * is then older than a decision of another process.
   */
  missing(server: Server, tools: Iterable<Pick<SeenTool, 'name' | 'hash'>>): string;
  /** Everything asked for or decided about these servers as they are launched now. */
  list(servers: Iterable<Server>): Approval[];
  /** Everything of a server about which something is asked, the server before its tools. */
  asked(server: Server): Subject[];
  /** Trusts subjects, all or none; durable when it resolves. */
  approve(server: Server, subjects: readonly ChosenSubject[], answer: Answer): Promise<Approval[]>;
  /** Rejects subjects, all or none; durable when it resolves. */
  reject(server: Server, subjects: readonly ChosenSubject[], answer: Answer): Promise<Approval[]>;
  /** What a request would change. */
  diff(server: Server, subject: Subject): Promise<ApprovalDiff>;
  /** Called with the servers about which another process noted something. The answer stops it. */
  onChange(listener: (servers: ChangedServers) => void): () => void;
  /** Why nothing in the store is trusted until a person accepts it (A48); known once it was read. */
  doubt(): StoreDoubt | undefined;
  /** Accepts the store as it is; answers what was in doubt. Durable when it resolves. */
  accept(): Promise<StoreDoubt | undefined>;
  close(): void;
}

const toolOf = (subject: Subject): string | undefined => (subject.about === 'tool' ? subject.tool : undefined);

/** How a server is started or reached, whole: nothing that is approved with it is left out (A42). */
function targetOf({ shown: { type, target, secrets }, review, transport, capabilities = [] }: Server): string {
  const unpinned = review && transport.type === 'stdio' ? unpinnedFilesOf(transport) : [];
  const given = review && type === 'stdio' ? review.env.map(([name, value]) => `${name}=${value}`) : secrets;
  const whole = review?.target ?? target;
  const besides = [
    ...(given.length > 0 ? [`with ${type === 'stdio' ? 'env' : 'headers'} ${given.join(', ')}`] : []),
    ...(review?.cwd === undefined ? [] : [`in ${review.cwd}`]),
    ...(review && review.uses.length > 0 ? [`fills in ${review.uses.join(', ')}`] : []),
    ...(unpinned.length > 0 ? [`cannot be pinned, larger than 64 MB: ${unpinned.join(', ')}`] : []),
    ...(capabilities.length > 0 ? [`offers ${capabilities.join(', ')}`] : []),
  ];
  return besides.length === 0 ? whole : printable(`${whole} (${besides.join('; ')})`);
}

/** Every hash in a record behind which a definition or a presentation stands. */
function hashesOf(record: TrustRecord): Set<string> {
  const standings = [record.presentation, ...record.tools.values()];
  const hashes = standings.flatMap(({ trust, ask }) => [trust?.hash, ask?.hash]);
  return new Set(hashes.filter((hash) => hash !== undefined));
}

const UNWEIGHED: Asked = { risk: { level: 'low', reasons: [] }, changed: [] };

/**
 * Weighs the tools that will be asked for, others having their turn in between: a record is changed in one go. What
 * another process changes meanwhile is weighed then.
 */
async function weighAhead(
  seen: Seen,
  record: TrustRecord | undefined,
  earlier: Circumstances['earlier'],
): Promise<NonNullable<Circumstances['weigh']>> {
  const weighed = new Map<SeenTool, { readonly known: string | undefined; readonly asked: Asked }>();
  await cooperatively(seen.tools, (tool) => {
    const standing = record?.tools.get(tool.name);
    if (isWeighed(tool, standing)) return;
    const known = standing?.trust?.hash;
    weighed.set(tool, { known, asked: weighSeen(tool, known, earlier) });
  });
  return (tool, known) => {
    const before = weighed.get(tool);
    return before && before.known === known ? before.asked : weighSeen(tool, known, earlier);
  };
}

/** The approvals over a store. */
export function createApprovals(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Set when something could not be stored, so that the next process notices. */
  readonly flag?: UnsavedFlag;
  /** The lock file, for the policy that uses nothing else (SEC-10). */
  readonly lock?: LockGate;
}): Approvals {
  const { store, clock, log } = deps;
  const ledger = createLedger(deps);
  const definitions = createDefinitions({ store, log });
  const prints = new WeakMap<Server, { readonly launch: string; readonly key: string }>();

  const printOf = (server: Server): { readonly launch: string; readonly key: string } => {
    let print = prints.get(server);
    if (!print) {
      const launch = launchOf(server);
      prints.set(server, (print = { launch, key: recordKey({ server: server.id, launch }) }));
    }
    return print;
  };
  const launchFor = (server: Server): string => printOf(server).launch;
  const keyOf = (server: Server): string => printOf(server).key;
  const knownOf = (server: Server): Known => ledger.get(keyOf(server));
  const holdOf = (server: Server, policy: ApprovalPolicy): Hold | undefined => {
    if (policy === 'lock') return holdByLock(deps.lock, server);
    const origin = originOf(server);
    const seen = { id: server.id, origin, launch: launchFor(server) };
    return holdInDoubt(ledger.doubt(), origin, policy) ?? holdServer(seen, knownOf(server), policy);
  };

  const blank = (server: Server): TrustRecord => ({
    version: 0,
    server: server.id,
    launch: launchFor(server),
    origin: originOf(server),
    target: targetOf(server),
    start: {},
    presentation: {},
    isComplete: true,
    tools: new Map(),
    past: [],
  });

  const listed = (record: TrustRecord | undefined): Approval[] => (record ? approvalsOf(record, clock.now()) : []);
  /** The requests of a record that were not there before. */
  const newIn = (before: TrustRecord | undefined, after: TrustRecord): Approval[] => {
    const nameOf = ({ about, ref, hash }: Approval): string => `${about} ${hash} ${ref}`;
    const pending = (record: TrustRecord | undefined): Approval[] =>
      listed(record).filter(({ state }) => state === 'pending');
    const old = new Set(pending(before).map(nameOf));
    return pending(after).filter((approval) => !old.has(nameOf(approval)));
  };

  const decide = async (
    server: Server,
    subjects: readonly ChosenSubject[],
    apply: (record: TrustRecord, subject: ChosenSubject) => TrustRecord,
    state: Approval['state'],
  ): Promise<Approval[]> => {
    await ledger.load();
    // A subject that is not what was seen throws, and then nothing of all of them is written.
    const record = await ledger.change(blank(server), keyOf(server), (before) => subjects.reduce(apply, before));
    await definitions.forget(keyOf(server), hashesOf(record));
    return listed(record).filter(
      (approval) =>
        approval.state === state &&
        subjects.some((subject) => subject.about === approval.about && toolOf(subject) === approval.tool),
    );
  };

  /** Writes what a list shows; a store that fails costs the next process its knowledge, not this one its tools. */
  const admit: Approvals['admit'] = async (server, seen, { policy, fresh, previous }) => {
    if (policy === 'off' || policy === 'lock') return [];
    await ledger.load();
    const key = keyOf(server);
    const { record: before, unreadable, isUnsaved } = ledger.get(key);
    const how = { policy, fresh, now: clock.now() };
    // Only whether it changes is asked here, not what then is at stake.
    const unread = { ...how, careful: false, earlier: () => undefined, weigh: () => UNWEIGHED };
    if (before && !isUnsaved && takeIn(before, seen, unread) === before) return [];
    if (unreadable === 'newer') return [];
    const earlier = await definitions.read(key);
    const weigh = await weighAhead(seen, before, earlier);
    const take = (record: TrustRecord, careful: boolean): TrustRecord =>
      takeIn(record, seen, { ...how, careful, earlier, weigh, ...(previous && { previous }) });
    const shown = presentationOf(seen);
    const values = new Map<string, JsonValue>([[hashJson(shown), shown]]);
    for (const { hash, definition } of seen.tools) values.set(hash, definition);
    // Before the record, so that whatever is pinned can be shown later.
    await definitions.add(key, values);
    if (values.size > LARGE) await nextTurn();
    try {
      const record = await ledger.change(blank(server), key, take);
      if (before) await definitions.forget(key, hashesOf(record));
      return newIn(before, record);
    } catch (thrown) {
      log.error('approvals.unsaved', { server: server.id, reason: messageOf(thrown) });
      const again = (): Promise<void> => definitions.add(key, values);
      return newIn(before, ledger.holdUnsaved(key, { blank: blank(server), apply: take, before: again }));
    }
  };

  const request: Approvals['request'] = async (servers, policy, { renew = false } = {}) => {
    await ledger.load();
    // What a lock file does not hold is not decided about one by one.
    if (policy === 'lock') return [];
    const made: Approval[] = [];
    const mayAsk = ({ start: { trust, ask }, origin }: TrustRecord): boolean => {
      if (trust || !ask) return !trust;
      const isOver = isExpired(ask, clock.now());
      return renew ? isOver || ask.state === 'rejected' : isOver && origin === 'project';
    };
    for (const server of servers) {
      const before = knownOf(server).record;
      // While the store is in doubt, no approval is requested; requests follow once a person has accepted the store.
      const hold = holdOf(server, policy);
      if (!hold || hold.state === 'unaccepted' || (before && !mayAsk(before))) continue;
      const risk = weighServer(server, originOf(server));
      const after = await ledger.change(blank(server), keyOf(server), (record) => {
        if (!mayAsk(record)) return record;
        const ask = { hash: launchFor(server), at: clock.now(), state: 'pending', risk, changed: [] } as const;
        return { ...record, start: { ask } };
      });
      made.push(...newIn(before, after));
    }
    return made;
  };

  const diff: Approvals['diff'] = async (server, subject) => {
    await ledger.load();
    const { record } = knownOf(server);
    const { trust, ask } = record ? standingOf(record, subject) : {};
    const approval = listed(record).find(
      ({ about, tool, hash, state }) =>
        state !== 'superseded' && hash === ask?.hash && about === subject.about && tool === toolOf(subject),
    );
    if (!approval || !ask) {
      const name = toolOf(subject);
      const ref = name === undefined ? server.id : addressOf(server.id, name);
      throw new ToolscoutError('NOTHING_FOUND', `"${ref}" has no change that needs approval.`, {
        remedy: { kind: 'list-pending' },
      });
    }
    if (subject.about === 'launch') return { approval, changes: [], note: `It would be run as: ${targetOf(server)}` };
    const valueOf = await definitions.read(keyOf(server));
    const after = valueOf(ask.hash);
    if (after === undefined)
      return { approval, changes: [], note: "The current definition is not stored. List the server's tools again." };
    const found = evidenceIn(after);
    const evidence = found.length > 0 ? { evidence: found } : {};
    if (!trust) {
      const note = 'It has not been trusted before.';
      return { approval, changes: compareJson(undefined, after), note, ...evidence };
    }
    const before = valueOf(trust.hash);
    return {
      approval,
      changes: compareJson(before, after),
      ...(before === undefined ? { note: 'The trusted definition is not stored.' } : {}),
      ...evidence,
    };
  };

  return {
    load: ledger.load,
    hold: holdOf,
    judge: (server, presentation, policy) =>
      policy === 'lock'
        ? judgeByLock(deps.lock, server, presentation)
        : judgeServer(knownOf(server), presentation, policy),
    admit,
    request,
    missing(server, tools) {
      const { record } = knownOf(server);
      const others: string[] = [];
      for (const { name, hash } of tools) {
        const { trust, ask } = record?.tools.get(name) ?? {};
        if (trust && trust.hash !== hash && ask?.hash !== hash) others.push(`${name} ${trust.hash}`);
      }
      return others.join('\n');
    },
    list: (servers) =>
      [...servers].flatMap((server) => {
        // As it is shown now: a record of an older version may have kept less of it.
        const target = targetOf(server);
        return listed(knownOf(server).record).map((approval) => ({ ...approval, target }));
      }),
    asked(server) {
      const { record } = knownOf(server);
      return record ? askedSubjects(record) : [];
    },
    approve: (server, subjects, answer) =>
      decide(server, subjects, (record, subject) => approveIn(record, subject, answer), 'approved'),
    reject: (server, subjects, answer) =>
      decide(server, subjects, (record, subject) => rejectIn(record, subject, answer), 'rejected'),
    diff,
    onChange: ledger.onChange,
    doubt: ledger.doubt,
    accept: ledger.accept,
    close: ledger.close,
  };
}
