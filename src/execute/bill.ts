import { sampleResultTokens, sampleTokens } from '../kernel/token-sample.js';
import { estimateTokens } from '../kernel/tokens.js';
import type { JsonObject } from '../kernel/json.js';
import type { TokenCount } from '../model/audit-record.js';
import { failureText, type Call, type Failure } from '../model/call.js';

/**
 * What a call cost its agent. What a script calls and gets costs it nothing: only the script reads it. Nothing else of the call is
 * held until then: its host would hold a whole request of HTTP.
 */
export function billLater(
  { arguments: args, parent, wordFailure = failureText }: Call,
  withheld: number,
  result?: JsonObject,
  error?: Failure,
) {
  const isScripted = parent !== undefined;
  return (): TokenCount => {
    const returned = result ? sampleResultTokens(result) : estimateTokens(error ? wordFailure(error) : '');
    if (isScripted) return { arguments: 0, returned: 0, withheld: withheld + (result ? returned : 0) };
    return { arguments: sampleTokens(args), returned, withheld };
  };
}
