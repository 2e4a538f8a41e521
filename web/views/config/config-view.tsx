import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError, type ApiError } from '../../api/problem.js';
import type { Json } from '../../api/types.js';
import { useConfigFile } from '../../app/config-file.js';
import { isConfigEvent } from '../../app/live.js';
import { useResource } from '../../app/resource.js';
import type { Route } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { Icon } from '../../parts/icon.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Page, Section } from '../../parts/page.js';
import { Callout, Failure, Loaded } from '../../parts/states.js';
import { ConfigEditor } from './config-editor.js';
import { reportText } from './reload-words.js';

/** The config in force, what is wrong with it, and reading it again. */
export function ConfigView({ route }: { readonly route: Route }): VNode {
  const config = useResource('config', api.config, isConfigEvent);
  const file = useConfigFile();
  const [report, setReport] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const isWrong = file.data.value?.isGone === true || file.data.value?.rejected !== undefined;
  useEffect(() => {
    // What an earlier reading led to is no longer true.
    if (isWrong) setReport(undefined);
  }, [isWrong]);
  const reload = async (): Promise<void> => {
    setError(undefined);
    setReport(undefined);
    try {
      setReport(reportText(await api.reload()));
      config.reload();
    } catch (thrown) {
      const failure = asApiError(thrown);
      // What is wrong with the file is shown beside its text.
      if (failure.problem.code !== 'CONFIGURATION_ERROR') setError(failure);
    }
    file.reload();
  };
  return (
    <Page
      title="Config"
      lead="The file, checked before it is written, and what is in force now. Secrets are masked."
      actions={
        <button type="button" class="button" disabled={!isAdmin()} onClick={() => void reload()}>
          <Icon name="refresh" />
          Read the file again
        </button>
      }
    >
      {error && <Failure error={error} />}
      {report && (
        <div role="status">
          <Callout tone="ok">{report}</Callout>
        </div>
      )}
      <Loaded from={file} what="The config file">
        {(found) => (
          <ConfigEditor
            key={found.text}
            file={found}
            line={Number(route.query['line']) || undefined}
            onSaved={() => {
              file.reload();
              config.reload();
            }}
          />
        )}
      </Loaded>
      <Loaded from={config} what="The config">
        {(shown) => (
          <Section title="In force" aside={<code>{shown.source}</code>}>
            <JsonTree value={shown as unknown as Json} open={1} label="Config" />
          </Section>
        )}
      </Loaded>
    </Page>
  );
}
