import type { VNode } from 'preact';
import { Page } from '../../parts/page.js';
import { Empty } from '../../parts/states.js';

/** To be filled once the API has it. */
export function TrafficView(): VNode {
  return (
    <Page title="Traffic">
      <Empty icon="traffic" title="Not available yet" />
    </Page>
  );
}
