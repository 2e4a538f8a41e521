import { DOUBT_PHRASES, type StoreDoubt } from '../model/store.js';

/** What happened to a store, and what to do about it, in plain words. */
export function doubtNotice(reason: StoreDoubt['reason'], file: string, keptAs?: string): string {
  const kept = keptAs === undefined ? '' : ` The old file is kept as ${keptAs}.`;
  return (
    `Store ${file}: ${DOUBT_PHRASES[reason]}.${kept} What you approved or rejected may be missing, so no server is used ` +
    'until you accept it: toolscout store accept'
  );
}
