import type { Remedy } from '../kernel/remedy.js';
import type { LockGate } from '../model/lock.js';
import type { Server } from '../model/server.js';
import type { Held, Hold, Judgement, TrustDecision } from './decide.js';
import { presentationOf, type Presentation } from './fingerprint.js';

const held = (status: 'pending' | 'quarantined', reason: string): Held => ({
  status,
  hold: { cause: status === 'pending' ? 'waiting' : 'changed', reason, decidedBy: 'lock' },
});
const CHANGED = held('quarantined', 'its definition differs from the lock file');
const SERVER_CHANGED = held('quarantined', 'the description of its server differs from the lock file');
const MISSING = held('pending', 'it is not in the lock file');
const ENABLED: TrustDecision = { status: 'enabled' };

/** Why a server may not be started where only the lock file counts; without a usable one nothing is (SEC-10). */
export function holdByLock(gate: LockGate | undefined, server: Server): Hold | undefined {
  const hold = (reason: string, given: Remedy | string): Hold => ({
    state: 'pending',
    reason,
    remedy: typeof given === 'string' ? { kind: 'configure', what: given } : given,
  });
  if (!gate)
    return hold('there is no lock file', 'Start toolscout with a config file (--config), then run toolscout lock.');
  const problem = gate.problem();
  if (problem) return hold(problem.message.replace(/\.$/, ''), problem.suggestion);
  const found = gate.server(server);
  if (found === 'missing') return hold('it is not in the lock file', 'Add it to the lock file: toolscout lock.');
  if (found === 'launch')
    return hold('its command, URL, environment, headers or working directory differs from the lock file', {
      kind: 'accept-lock',
    });
  return undefined;
}

/** Judges a server by the lock file alone: what it holds to the byte is offered, everything else is not. */
export function judgeByLock(gate: LockGate | undefined, server: Server, presentation: Presentation): Judgement {
  const found = gate && !gate.problem() ? gate.server(server) : 'missing';
  if (typeof found === 'string') return { isPresentable: false, hold: MISSING.hold, judge: () => MISSING };
  const isChanged = !presentation.isUnknown && !found.isPresentation(presentationOf(presentation));
  return {
    isPresentable: !isChanged,
    ...(isChanged && { hold: SERVER_CHANGED.hold }),
    judge({ name, definition }) {
      const verdict = found.judge(name, definition);
      if (verdict === 'missing') return MISSING;
      if (verdict === 'changed') return CHANGED;
      return isChanged ? SERVER_CHANGED : ENABLED;
    },
  };
}
