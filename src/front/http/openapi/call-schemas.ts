import * as z from 'zod';
import { AnyObject } from './any-object.js';

const text = z.string();
const name = text.min(1).max(500);

/** A wish to run one tool. */
export const CallRequest = z.strictObject({
  server: name,
  tool: name,
  arguments: AnyObject.default({}),
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
  select: z.string().max(4096).optional().meta({ description: 'JMESPath: the part of the result that is wanted.' }),
  max_tokens: z
    .int()
    .min(500)
    .max(1_000_000)
    .optional()
    .meta({ description: 'A result of more tokens is kept, and a preview of it with a handle is returned.' }),
  ask: z.boolean().optional().meta({
    description:
      'With events: what is asked in the middle of the call comes as an event `ask`, answered by `POST /v1/asks/{id}`.',
  }),
});

const Ask = z.object({
  id: text,
  kind: text.meta({ description: '`elicitation`, `sampling` or `roots`.' }),
  method: text,
  params: AnyObject,
  server: text,
  tool: text,
  askedAt: z.number(),
  confirms: z
    .object({
      rule: text.meta({ description: 'The rule that asks, as one phrase.' }),
      scope: z
        .enum(['call', 'tool'])
        .meta({ description: 'What a yes covers: this call, or every call of the tool by this caller for 30 days.' }),
      arguments: AnyObject,
    })
    .optional()
    .meta({
      description: 'The question is one of toolscout, not of the server: it asks for a yes before the call is sent.',
    }),
});

/** Questions that wait for an answer. */
export const AskList = z.object({ asks: z.array(Ask) });

/** What the question asks for, or why there is no answer. */
export const AskAnswer = z.union([
  z.strictObject({
    answer: AnyObject.meta({ type: 'object', description: 'The result, as MCP defines it.' }),
  }),
  z.strictObject({ refusal: text.min(1).max(1000) }),
]);

/** A query with the tool that was meant. */
export const LabelRequest = z.strictObject({ query: text.min(1).max(1000), server: name, tool: name });

/** A labelled query, as `toolscout eval` reads it. */
export const Label = z.object({ id: text, query: text, relevant: z.array(text) });

/** The labelled queries. */
export const LabelList = z.object({ file: text, labels: z.array(Label) });

const newSavedCall = { name: text.min(1).max(200), server: name, tool: name, arguments: AnyObject.default({}) };

/** A call that is kept. */
export const SavedCall = z.object({ ...newSavedCall, id: text, savedAt: z.number() });

/** Calls that are kept. */
export const SavedCallList = z.object({ calls: z.array(SavedCall) });

/** A call to keep, or an export with many. */
export const SaveCallsRequest = z.union([
  z.strictObject(newSavedCall),
  z.strictObject({
    calls: z
      .array(z.strictObject({ ...newSavedCall, id: text.optional(), savedAt: z.number().optional() }))
      .min(1)
      .max(200),
  }),
]);
