import type { VNode } from 'preact';
import { Page } from '../../parts/page.js';
import { Empty } from '../../parts/states.js';

/** To be filled once the API has it. */
export function RulesView(): VNode {
  return (
    <Page title="Rules">
      <Empty icon="rules" title="Not available yet" />
    </Page>
  );
}
