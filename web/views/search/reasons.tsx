import type { VNode } from 'preact';
import type { Hit } from '../../api/types.js';
import { ServerLine } from '../../parts/server-text.js';

function Share({
  name,
  note,
  share,
}: {
  readonly name: string;
  readonly note?: string;
  readonly share: number;
}): VNode {
  return (
    <div class="reason">
      <span>
        <ServerLine text={name} limit={40} />
        {note && <span class="reason-note muted">{note}</span>}
      </span>
      <span class="meter">
        <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      </span>
      <span class="number">
        {share < 0 ? '−' : ''}
        {Math.abs(share).toFixed(2)}
      </span>
    </div>
  );
}

/** What each signal and each word gave to the relevance of a hit. */
export function Reasons({ explanation }: { readonly explanation: NonNullable<Hit['explanation']> }): VNode {
  return (
    <div class="reasons">
      <h3>Signals, which add up to the relevance</h3>
      {explanation.signals.map(({ name, share }) => (
        <Share key={name} name={name} share={share} />
      ))}
      {explanation.terms.length > 0 && <h3>Your words, and where the tool has them</h3>}
      {explanation.terms.map(({ word, term, fields, share }) => (
        <Share
          key={`${word} ${term}`}
          name={word === term ? word : `${word} → ${term}`}
          note={fields.length > 0 ? `in ${fields.join(', ')}` : ''}
          share={share}
        />
      ))}
    </div>
  );
}
