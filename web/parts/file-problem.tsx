import type { VNode } from 'preact';
import type { ConfigFile } from '../api/types.js';
import { hrefTo } from '../app/router.js';
import { ProblemLine } from './problem-line.js';
import { Callout } from './states.js';

function GoneFile({ path }: { readonly path: string }): VNode {
  return (
    <div role="alert">
      <Callout tone="bad">
        <p class="strong">The config file does not exist any more. The config that was read last stays in force.</p>
        <p>
          Put <code>{path}</code> back: it is read again by itself. After a restart without it toolscout has another
          config or does not start.
        </p>
      </Callout>
    </div>
  );
}

/** What is wrong with the config file, and which config is in force instead. */
export function FileProblem({
  file,
  onLine,
}: {
  readonly file: ConfigFile;
  readonly onLine?: (line: number) => void;
}): VNode | null {
  const { rejected, problem } = file;
  if (file.isGone) return <GoneFile path={file.path ?? ''} />;
  if (!rejected) return problem === undefined ? null : <Callout tone="warn">{problem}</Callout>;
  return (
    <div role="alert">
      <Callout tone="bad">
        <p class="strong">The file was changed and is not used. The previous config stays in force.</p>
        <ul class="plain-list">
          {rejected.map((problem) => (
            <li key={problem.path + problem.message}>
              <ProblemLine problem={problem} onLine={onLine} />
            </li>
          ))}
        </ul>
        {!onLine && (
          <p>
            <a href={hrefTo('config')}>Correct the file under Config</a>
          </p>
        )}
      </Callout>
    </div>
  );
}
