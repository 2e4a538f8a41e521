import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonObject, ToolDetails } from '../../api/types.js';
import { session } from '../../app/session.js';
import { CodeBox } from '../../parts/copy-button.js';
import { Section } from '../../parts/page.js';
import { Tabs } from '../../parts/tabs.js';
import { copiesOf } from './copies.js';

const COPIES = [
  ['cli', 'Command line'],
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
  ['mcp', 'MCP message'],
] as const;

/** The call of the form in other languages. */
export function CopyAs({ tool, args }: { readonly tool: ToolDetails; readonly args: JsonObject }): VNode {
  const [language, setLanguage] = useState<(typeof COPIES)[number][0]>('cli');
  const { origin, port } = location;
  const { required, stateDir, config, demo } = session.value ?? {};
  const copies = copiesOf(tool.server, tool.tool, args, { origin, port, required, stateDir, config, demo });
  return (
    <Section
      title="The same call elsewhere"
      aside={<Tabs label="Language" tabs={COPIES} current={language} onChange={setLanguage} />}
    >
      <div class="stack stack-s">
        <CodeBox text={copies[language]} what={COPIES.find(([name]) => name === language)![1]} />
        {required && language === 'curl' && (
          <p class="muted small">
            Put your key into the variable <code>TOOLSCOUT_KEY</code>.
          </p>
        )}
        {required && (language === 'cli' || language === 'typescript') && (
          <p class="muted small">
            It reads the config of the machine on which it runs. On that of toolscout, give it the config and the state
            directory that toolscout was started with.
          </p>
        )}
      </div>
    </Section>
  );
}
