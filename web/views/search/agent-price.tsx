import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { HeldTools, SearchPreview } from '../../api/types.js';
import { hrefTo } from '../../app/router.js';
import { ExceptionButton } from '../../parts/exception-button.js';
import { ServerText } from '../../parts/server-text.js';
import { Callout } from '../../parts/states.js';
import { heldReason } from '../../text/advice.js';
import { formatCount } from '../../text/format.js';
import { answerWord, heldTitle } from './search-words.js';

/** Asked once the user has stopped typing. */
const PAUSE_MS = 250;
const FEW = 3;

interface Aside {
  readonly preview?: SearchPreview;
  readonly held?: HeldTools;
}

function Price({ preview, found }: { readonly preview: SearchPreview; readonly found: number }): VNode {
  const text = preview.content.map((part) => part.text).join('\n');
  return (
    <details class="agent-price">
      <summary>
        <span>
          An agent pays{' '}
          <span class="strong number">{formatCount(preview.tokens.arguments + preview.tokens.returned)}</span> tokens
          for this search
          <span class="muted">
            : {formatCount(preview.tokens.arguments)} to ask, {formatCount(preview.tokens.returned)} for{' '}
            {answerWord(text, found)}
          </span>
        </span>
        <span class="link">What it reads</span>
      </summary>
      <div class="result-text agent-text" tabIndex={0} role="region" aria-label="What the agent reads">
        <ServerText text={text} limit={6000} block />
      </div>
    </details>
  );
}

function Held({ held, onChange }: { readonly held: HeldTools; readonly onChange: () => void }): VNode | null {
  if (held.total === 0) return null;
  return (
    <Callout tone="warn">
      <p class="strong">{heldTitle(held.total)}</p>
      {held.tools.slice(0, FEW).map(({ server, tool, reason, because }) => (
        <p key={`${server}:${tool}`}>
          <a href={hrefTo('tool', [server, tool])}>
            <ServerText text={`${server}:${tool}`} limit={100} />
          </a>{' '}
          <ServerText text={heldReason({ server, tool, reason })} limit={200} />{' '}
          {because === 'rule' && <ExceptionButton address={`${server}:${tool}`} onDone={onChange} />}
        </p>
      ))}
      {held.total > FEW && (
        <p>
          <a href={hrefTo('held')}>See all that is held back</a>
        </p>
      )}
    </Callout>
  );
}

/** What an agent would read and pay for this search, and which tools it would not be told of. */
export function AgentPrice({
  query,
  server,
  found,
  onChange,
}: {
  readonly query: string;
  readonly server: string;
  readonly found: number;
  /** A tool that was held back is offered now. */
  readonly onChange: () => void;
}): VNode {
  const [aside, setAside] = useState<Aside>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const own = new AbortController();
    const about = { q: query, ...(server && { server }) };
    const ask = async (): Promise<void> => {
      try {
        const [preview, held] = await Promise.all([
          api.searchPreview(about, own.signal),
          api.heldTools(about, own.signal),
        ]);
        if (!own.signal.aborted) setAside({ preview, held });
      } catch {
        // The search itself says what is wrong; without an answer there is no price.
        if (!own.signal.aborted) setAside({});
      }
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [query, server, round]);
  return (
    <>
      {aside.preview && <Price preview={aside.preview} found={found} />}
      {aside.held && (
        <Held
          held={aside.held}
          onChange={() => {
            setRound(round + 1);
            onChange();
          }}
        />
      )}
    </>
  );
}
