import type { Clock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import type { Remedy } from '../kernel/remedy.js';

/** The request header in which one toolscout names the instances in front of it. */
export const VIA_HEADER = 'toolscout-via';

/** The response header with the id of a toolscout, for requests with {@link VIA_HEADER}. */
export const INSTANCE_HEADER = 'toolscout-instance';

/** The variable in which a toolscout passes its id to its children. */
export const VIA_VARIABLE = 'TOOLSCOUT_VIA';

/** What to do about a server that is this toolscout, or has it as a server. */
export const LOOP_REMEDY: Remedy = {
  kind: 'configure',
  what: 'Remove the server from the config; a toolscout may be a server of another one, but not of itself.',
};

/** Instances that are named at once; a longer chain is a loop or a mistake. */
const MAX_INSTANCES = 16;

/** How long another instance counts as connected after it was last heard of. */
const REMEMBERED_MS = 60_000;

const ID = /^[0-9a-f-]{36}$/;

/** One process of toolscout, and the configuration it serves. */
interface Instance {
  readonly id: string;
  readonly configuration: string;
}

/** Who this process is, and which other instances of toolscout it is connected to: what a loop of them is recognised by. */
export interface Lineage {
  /** It was started by a toolscout that serves the same configuration. */
  readonly isNested: boolean;
  /** {@link VIA_HEADER} of a request: this instance and those in front of it. The ids are random and of this process only. */
  via(): string;
  /** {@link INSTANCE_HEADER} of an answer. */
  instance(): string;
  /** {@link VIA_VARIABLE} of a child. */
  variable(): string;
  /** Takes note of who is in front of a request; answers why the request must be refused, if it closes a loop. */
  admit(via: string): string | undefined;
  /** Takes note of who answered a request; answers why it must not be used, if that closes a loop. */
  meet(instance: string): string | undefined;
}

function readInstance(text: string): Instance | undefined {
  const [id = '', configuration = ''] = text.trim().split('.');
  return ID.test(id) ? { id, configuration } : undefined;
}

function readAll(text: string): Instance[] {
  return text
    .split(',', MAX_INSTANCES)
    .map(readInstance)
    .filter((each) => each !== undefined);
}

/** Ids with the time at which they were last heard of; the oldest go first. */
function createRecent(clock: Pick<Clock, 'monotonic'>) {
  const seen = new Map<string, number>();
  return {
    add(id: string): void {
      seen.delete(id);
      seen.set(id, clock.monotonic());
      const [oldest] = seen.size > MAX_INSTANCES * MAX_INSTANCES ? seen.keys() : [];
      if (oldest !== undefined) seen.delete(oldest);
    },
    has: (id: string): boolean => clock.monotonic() - (seen.get(id) ?? -Infinity) < REMEMBERED_MS,
    ids: (): string[] => [...seen.keys()].toReversed(),
  };
}

/** A new instance. `configuration` names what it serves; without one, no other instance counts as equal. */
export function createLineage(options: {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly configuration?: string;
  /** {@link VIA_VARIABLE} as it was found. */
  readonly inherited?: string;
}): Lineage {
  const { clock, configuration = newId(), inherited = '' } = options;
  const id = newId();
  const ancestors = readAll(inherited);
  const inFront = createRecent(clock);
  const behind = createRecent(clock);

  return {
    isNested: ancestors.some((each) => each.configuration === configuration),
    via: () =>
      [...new Set([id, ...ancestors.map((each) => each.id), ...inFront.ids().filter(inFront.has)])]
        .slice(0, MAX_INSTANCES)
        .join(','),
    instance: () => `${id}.${configuration}`,
    variable: () =>
      [{ id, configuration }, ...ancestors]
        .slice(0, MAX_INSTANCES)
        .map((each) => `${each.id}.${each.configuration}`)
        .join(','),
    admit(via) {
      const ids = readAll(via).map((each) => each.id);
      if (ids[0] === id) return 'The request comes from this toolscout itself.';
      if (ids.includes(id) || ids.some(behind.has))
        return 'The request comes from a toolscout that is a server of this one.';
      for (const each of ids) inFront.add(each);
      return undefined;
    },
    meet(instance) {
      const met = readInstance(instance);
      if (!met) return undefined;
      if (met.id === id) return 'it is this toolscout itself';
      if (met.configuration === configuration) return 'it is a toolscout with the same configuration';
      const isAncestor = ancestors.some((each) => each.id === met.id);
      if (isAncestor || inFront.has(met.id)) return 'it is a toolscout that has this one as a server';
      behind.add(met.id);
      return undefined;
    },
  };
}
