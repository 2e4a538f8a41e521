import * as z from 'zod';
import { STATS_GROUPS } from '../../../model/stats.js';

const text = z.string();
const count = z.int().min(0);

/** About how many tokens something cost an agent. */
export const TokenCount = z.object({
  arguments: z.number().meta({ description: 'Of what the agent sent.' }),
  returned: z.number().meta({ description: 'Of what it was given back.' }),
  withheld: z.number().meta({ description: 'Of what was kept from it, and can be read on demand.' }),
});

const Usage = z.object({
  calls: count,
  failed: count.meta({ description: 'Of the calls those that failed or were refused.' }),
  reads: count.meta({ description: 'Resources, prompts and completions.' }),
  searches: count,
  menus: count.meta({ description: 'Lists of tools that hosts were given.' }),
  tokens: TokenCount,
});

/** What was used, in tokens, and what loading every tool would have cost. */
export const Stats = z.object({
  by: z.enum(STATS_GROUPS),
  since: z.number().optional(),
  until: z.number().optional(),
  rows: z.array(
    Usage.extend({ key: text.meta({ description: 'Day of UTC, id, address or name; empty: of no server.' }) }),
  ),
  more: count.meta({ description: 'Rows that `limit` left out.' }),
  total: Usage,
  menu: z.object({
    tools: count.meta({ description: 'Tools that are offered now.' }),
    everyTool: count.meta({ description: 'Tokens of all their definitions.' }),
    given: count.meta({ description: 'Tokens of the menus that hosts were given.' }),
  }),
  saved: count.meta({ description: 'Tokens that agents did not receive.' }),
});
