import type { VNode } from 'preact';
import { api } from '../../api/client.js';
import type { Skill } from '../../api/types.js';
import { useResource } from '../../app/resource.js';
import { hrefTo } from '../../app/router.js';
import { Page, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Badge, Callout, Empty, Loaded, type Tone } from '../../parts/states.js';

const TONES: Readonly<Record<Skill['state'], Tone>> = { READY: 'ok', DEGRADED: 'warn', UNAVAILABLE: 'bad' };

function One({ skill }: { readonly skill: Skill }): VNode {
  return (
    <Section title={skill.title.slice(0, 120)} aside={<Badge tone={TONES[skill.state]}>{skill.state}</Badge>}>
      <div class="stack">
        {[...skill.missing, ...skill.impaired].map(({ capability, reason, action }) => (
          <Callout key={capability + reason} tone="warn">
            <p>
              <code>{capability}</code> <ServerText text={reason} />
            </p>
            <p class="muted">
              <ServerText text={action} />
            </p>
          </Callout>
        ))}
        {skill.problems.map(({ path, message }) => (
          <Callout key={path + message} tone="bad">
            <code>{path}</code> <ServerText text={message} />
          </Callout>
        ))}
        {skill.bindings.length > 0 && (
          <div class="table-scroll" tabIndex={0} role="region" aria-label={`Bindings of ${skill.title}`}>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Capability</th>
                  <th scope="col">Granted by</th>
                  <th scope="col">Tools</th>
                  <th scope="col">Alternatives</th>
                </tr>
              </thead>
              <tbody>
                {skill.bindings.map((binding) => (
                  <tr key={binding.request + binding.server}>
                    <td>
                      <code>{binding.capability}</code>
                    </td>
                    <td>
                      <span class={`dot ${binding.healthy ? 'dot-ok' : 'dot-bad'}`} />{' '}
                      <a href={hrefTo('servers', [binding.server])}>{binding.server}</a>{' '}
                      <span class="muted small">{binding.origin}</span>
                    </td>
                    <td>
                      {(binding.tools ?? []).slice(0, 8).map((tool) => (
                        <a key={tool} class="tag-link" href={hrefTo('tool', [binding.server, tool])}>
                          <ServerLine text={tool} limit={50} />
                        </a>
                      ))}
                    </td>
                    <td class="muted">{binding.alternatives.join(', ')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </Section>
  );
}

/** Skills, what each was granted, and what it lacks. */
export function SkillsView(): VNode {
  const skills = useResource('skills', api.skills, (event) => event.type !== 'notification');
  return (
    <Page
      title="Skills"
      lead="A skill may use only the capabilities that its skill.md declares. Here is what each was granted, and what it lacks."
    >
      <Loaded from={skills} what="The list of skills">
        {(all) =>
          all.length === 0 ? (
            <Empty icon="skills" title="No skills are configured">
              <p>
                Name a folder of <code>skill.md</code> files in the config:{' '}
                <code>{'"skills": {"directories": ["./skills"]}'}</code>
              </p>
            </Empty>
          ) : (
            <>
              {all.map((skill) => (
                <One key={skill.id} skill={skill} />
              ))}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
