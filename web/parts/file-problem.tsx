import type { VNode } from 'preact';
import type { ConfigFile } from '../api/types.js';
import { ServerText } from './server-text.js';
import { Callout } from './states.js';

/** What is wrong with the config file, and which config is in force instead. */
export function FileProblem({ file }: { readonly file: ConfigFile }): VNode | null {
  const { rejected, problem } = file;
  if (!rejected) return problem === undefined ? null : <Callout tone="warn">{problem}</Callout>;
  return (
    <div role="alert">
      <Callout tone="bad">
        <p class="strong">The file was changed and is not used. The previous config stays in force.</p>
        <ul class="plain-list">
          {rejected.map(({ path, message }) => (
            <li key={path + message}>
              {path && <code>{path}</code>} <ServerText text={message} />
            </li>
          ))}
        </ul>
      </Callout>
    </div>
  );
}
