import type { VNode } from 'preact';
import { Dialog } from '../parts/dialog.js';
import { GO_KEYS, isHelpOpen } from './keyboard.js';

const KEYS: ReadonlyArray<readonly [keys: readonly string[], does: string, together?: true]> = [
  [['/'], 'Search tools'],
  [['?'], 'This list'],
  [['↑', '↓'], 'Move in a list'],
  [['Enter'], 'Open the marked entry'],
  [['Esc'], 'Close, or clear the search'],
  [['Ctrl', 'Enter'], 'Run the tool whose form is open', true],
];

/** The keys, and where to read more. */
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
            <span>Go to {view}</span>
          </>
        ))}
      </div>
      <p class="muted small">
        Everything on this page is an HTTP request that a program can make too: <a href="/openapi.json">openapi.json</a>{' '}
        describes them.
      </p>
    </Dialog>
  );
}
