import type { VNode } from 'preact';
import type { ConfigFile } from '../api/types.js';
import { ProblemLine } from './problem-line.js';
import { Callout } from './states.js';

/** What is wrong with the config file, and which config is in force instead. */
export function FileProblem({
  file,
  onLine,
}: {
  readonly file: ConfigFile;
  readonly onLine?: (line: number) => void;
}): VNode | null {
  const { rejected, problem } = file;
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
      </Callout>
    </div>
  );
}
