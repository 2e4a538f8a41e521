import type { VNode } from 'preact';
import { Dialog } from '../parts/dialog.js';
import { DOCUMENTATION } from './documentation.js';
import { GO_KEYS, isHelpOpen } from './keyboard.js';
import { LABELS } from './way-back.js';

const KEYS: ReadonlyArray<readonly [keys: readonly string[], does: string, together?: true]> = [
  [['/'], 'Search tools'],
  [['?'], 'This list'],
  [['↑', '↓'], 'Move in a list'],
  [['Enter'], 'Open the marked entry'],
  [['Esc'], 'Close, or clear the search'],
  [['Ctrl', 'Enter'], 'Run the tool whose form is open', true],
];

const WORDS: ReadonlyArray<readonly [word: string, means: string]> = [
  [
    'held back',
    'A tool that a server has and agents do not get: a rule turns it off, it waits for approval, or it was rejected.',
  ],
  [
    'waits for approval',
    'It is new, it changed since it was trusted, or it shows signs of an attack. You decide under Approvals.',
  ],
  ['rejected', 'You said no to it. Under Approvals, Decided, you can approve it after all.'],
  ['replaced by a newer request', 'It changed again before you decided, and the newer request stands in its place.'],
  ['only tagged', 'A rule turns the tool neither on nor off; it gives it a tag, by which agents can narrow a search.'],
  ['pinned as', 'The hash of the definition that is trusted. A definition with another hash waits for approval.'],
  ['refused', 'A call that toolscout did not let through; no server was asked. A failure is an error of the server.'],
  [
    'needs a yes',
    'A rule wants a person to confirm the call. It was not sent; approve it under Approvals, and the same call goes through once.',
  ],
  ['tokens', 'About what a model reads and writes. An agent pays for them.'],
  [
    'part',
    'One thing that a request led to: a connection, a request to a server, a question, progress, a wait, a retry.',
  ],
  ['era', 'Which protocol a server speaks: legacy for revisions before 2026-07-28, modern since then. Both work.'],
  [
    'says nothing about its effects',
    'The definition does not say whether the tool only reads or may delete something.',
  ],
  [
    'signals',
    'What the search adds up for a tool: words, mention, clause, ways of asking, meaning. What fits your words better counts more.',
  ],
];

/** The keys, the words, and where to read more. */
export function HelpDialog(): VNode {
  return (
    <Dialog title="Keys and help" onClose={() => (isHelpOpen.value = false)}>
      <div class="help">
        {KEYS.map(([keys, does, together]) => (
          <>
            <span>
              {keys.map((key, index) => (
                <>
                  {index > 0 && (together ? ' + ' : ' ')}
                  <kbd>{key}</kbd>
                </>
              ))}
            </span>
            <span>{does}</span>
          </>
        ))}
        {Object.entries(GO_KEYS).map(([key, view]) => (
          <>
            <span>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </span>
            <span>Go to {LABELS[view] ?? 'Servers'}</span>
          </>
        ))}
      </div>
      <h3>Words</h3>
      <dl class="words">
        {WORDS.map(([word, means]) => (
          <>
            <dt class="strong">{word}</dt>
            <dd class="muted">{means}</dd>
          </>
        ))}
      </dl>
      <p class="muted small">
        More is in the{' '}
        <a href={DOCUMENTATION} target="_blank" rel="noopener noreferrer">
          documentation
        </a>
        . Everything on this page is an HTTP request that a program can make too:{' '}
        <a href="/openapi.json">openapi.json</a> describes them.
      </p>
    </Dialog>
  );
}
