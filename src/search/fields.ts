import type { Tool } from '../model/tool.js';

/** How much one part of a tool counts, and how strongly a long one is held against it (BM25's b). */
interface Field {
  readonly weight: number;
  readonly b: number;
}

/** The parts of a tool that are searched; {@link textsOf} gives their texts in this order. */
export const FIELDS: readonly Field[] = [
  { weight: 3, b: 0.3 }, // name
  { weight: 1.5, b: 0.3 }, // server
  { weight: 1, b: 0.75 }, // description
  { weight: 0.8, b: 0.75 }, // names of parameters
  { weight: 0.5, b: 0.75 }, // descriptions and values of parameters
];

/** The position of the name in {@link FIELDS}. */
export const NAME_FIELD = 0;

/** The position of the server in {@link FIELDS}; its terms are the same for all of a server's tools. */
export const SERVER_FIELD = 1;

/** What a description is for stands in its beginning; the rest is examples and warnings. */
const DESCRIPTION_LENGTH = 600;

/** Bounds what one tool with thousands of parameters may add to the index. */
const PARAMETERS_LENGTH = 4000;

/** The searched texts of a tool, one for each field; the server's is left to whoever knows the server. */
export function textsOf(tool: Tool): string[] {
  const names: string[] = [];
  const explanations: string[] = [];
  let room = PARAMETERS_LENGTH;
  for (const { name, description, values } of tool.parameters) {
    if (room <= 0) break;
    const explanation = [description, ...(values ?? []).slice(0, 100)].join(' ').slice(0, room);
    names.push(name.slice(0, room));
    explanations.push(explanation);
    room -= name.length + explanation.length;
  }
  return [tool.name, '', tool.description.slice(0, DESCRIPTION_LENGTH), names.join(' '), explanations.join(' ')];
}
