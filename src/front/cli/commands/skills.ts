import type { Command } from 'commander';
import type { SkillView } from '../../../gateway/index.js';
import { counted, printable } from '../../../kernel/text.js';
import type { AgentBriefingEvent } from '../../../model/skill.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

/** What a check answers when a skill lacks something, or its file is not as it should be. */
const INCOMPLETE = 3;

function paintState(deps: CliDeps, state: SkillView['state']): string {
  const { paint } = deps.terminal;
  return { READY: paint.green, DEGRADED: paint.yellow, UNAVAILABLE: paint.red }[state](state);
}

function printSkill(deps: CliDeps, view: SkillView): void {
  const { terminal } = deps;
  const { paint } = terminal;
  terminal.out(`${paint.bold(printable(view.id))}  ${paintState(deps, view.state)}  ${printable(view.title)}`);
  for (const { capability, server, origin, tools, alternatives } of view.bindings.filter((each) => each.healthy)) {
    const others = alternatives.length === 0 ? '' : `, else ${alternatives.join(', ')}`;
    const count = tools === undefined ? 'tools not known yet' : counted(tools.length, 'tool');
    terminal.out(printable(`  ✓ ${capability} → ${server} (${origin}, ${count}${others})`));
  }
  for (const { capability, reason, action } of [...view.missing, ...view.impaired]) {
    terminal.out(printable(`  ✗ ${capability}: ${reason}`));
    terminal.out(printable(`    → ${action}`));
  }
  for (const { path, message } of view.problems) terminal.out(printable(`  ! ${view.path}, ${path}: ${message}`));
}

function printAnswer(deps: CliDeps, flags: CommonFlags, view: SkillView): void {
  if (flags.json) deps.terminal.json({ skill: view });
  else printSkill(deps, view);
}

function addList(skills: Command, deps: CliDeps): void {
  withCommonFlags(skills.command('list'))
    .summary('show the skills and their state')
    .description('Shows every skill of the configured folders with its bindings, and what it lacks.')
    .addHelpText('after', '\nExample:\n  $ toolscout skills list')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const views = await gateway.skills.list();
        if (flags.json) return deps.terminal.json({ skills: views });
        if (views.length === 0) return deps.terminal.note('No skills: name their folders under skills.directories.');
        return views.forEach((view) => printSkill(deps, view));
      });
    });
}

function addOne(
  skills: Command,
  deps: CliDeps,
  name: 'check' | 'bind',
  texts: { summary: string; about: string },
): void {
  withCommonFlags(skills.command(name))
    .summary(texts.summary)
    .description(texts.about)
    .argument('<skill>', name === 'check' ? 'id of a skill, or the path of a skill.md' : 'id of a skill')
    .addHelpText('after', `\nExample:\n  $ toolscout skills ${name} fire-watch`)
    .action(async (skill: string, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const view = name === 'check' ? await gateway.skills.check(skill) : await gateway.skills.bind(skill);
        printAnswer(deps, flags, view);
        const isWrong = name === 'check' && view.problems.length > 0;
        if (view.state !== 'READY' || isWrong) throw new Exit(INCOMPLETE);
      });
    });
}

function addWatch(skills: Command, deps: CliDeps): void {
  withCommonFlags(skills.command('watch'))
    .summary('print changes of skills as they happen')
    .description(
      'Shows the state of each skill, then every change, until it is stopped. --json prints one event a line.',
    )
    .addHelpText('after', '\nExample:\n  $ toolscout skills watch --json')
    .action(async (flags: CommonFlags) => {
      await withGateway(
        deps,
        flags,
        async (gateway) => {
          const { terminal } = deps;
          const print = (event: AgentBriefingEvent): void => {
            if (flags.json) return terminal.json(event);
            terminal.out(printable(`${event.timestamp} ${event.skill_id} ${event.type}: ${event.content.summary}`));
            for (const action of event.content.suggested_actions) terminal.out(printable(`    → ${action}`));
          };
          const stop = gateway.onEvent((event) => event.type === 'briefing' && print(event.briefing));
          const views = await gateway.skills.list();
          if (!flags.json) views.forEach((view) => printSkill(deps, view));
          await deps.stopped({ awaited: true });
          stop();
        },
        { learnAtStart: true, watch: true },
      );
    });
}

/** `toolscout skills`: what skills ask for, what they get, what they lack (NEG-3). */
export function addSkills(program: Command, deps: CliDeps): void {
  const skills = program
    .command('skills')
    .summary('show the capabilities that skills need and have')
    .description('Shows the capabilities that skills need, which servers offer them, and what is missing.')
    .addHelpText('after', '\nExample:\n  $ toolscout skills check fire-watch');
  addList(skills, deps);
  addOne(skills, deps, 'check', {
    summary: 'check the file of one skill and its bindings',
    about:
      'Checks a skill.md and the servers it would be bound to: whether their command is there, and whether they answer where their tools are not known yet. Exit 3 when something is missing.',
  });
  addOne(skills, deps, 'bind', {
    summary: 'discover servers that are not known yet, then bind one skill',
    about:
      'Discovers the tools of servers that were not asked yet, then shows what the skill gets. Exit 3 when something is missing.',
  });
  addWatch(skills, deps);
}
