import { describe, expect, it } from 'vitest';
import { ApiError, asApiError, readProblem, unsaidProblems } from './problem.js';

describe('failures', () => {
  it('STUDIO-2 says that toolscout is away, and how to start it', () => {
    const away = asApiError(new TypeError('Failed to fetch'));
    expect([away.isOffline, away.message]).toEqual([true, 'toolscout could not be reached.']);
    expect(asApiError(new Error('the answer ended')).message).toContain('(the answer ended)');
    expect(away.suggestion).toContain('toolscout studio');
    expect(asApiError(away)).toBe(away);
  });

  it('STUDIO-2 shows what the API says, and its advice where that is for people', async () => {
    const answer = (body: unknown): Response => Response.json(body, { status: 409 });
    const told = await readProblem(answer({ detail: 'It is disabled.', suggestion: 'Enable it in the config.' }));
    expect([told.status, told.message, told.suggestion, told.isOffline]).toEqual([
      409,
      'It is disabled.',
      'Enable it in the config.',
      false,
    ]);
    const forPrograms = await readProblem(answer({ title: 'Held', suggestion: 'Look with GET /v1/approvals.' }));
    expect([forPrograms.message, forPrograms.suggestion]).toEqual(['Held', undefined]);
  });

  it('STUDIO-2 lists only the problems that the message does not tell itself', () => {
    const [told, other] = [
      { path: 'line 3, column 1', message: 'not valid JSON' },
      { path: 'mode', message: 'expected one of' },
    ];
    const error = new ApiError(400, { detail: 'c.json:3:1: not valid JSON', problems: [told, other] });
    expect(unsaidProblems(error)).toEqual([other]);
    expect(unsaidProblems(new ApiError(400, { detail: 'No.' }))).toEqual([]);
  });

  it('STUDIO-2 shows what an answer without JSON says, and a sentence where it says nothing', async () => {
    expect((await readProblem(new Response('Bad gateway', { status: 502 }))).message).toBe('Bad gateway');
    expect(new ApiError(500, {}).message).toBe('The request failed with status 500.');
  });
});
