import * as z from 'zod';
import { isObject, type JsonObject } from '../../../kernel/json.js';

/** Any JSON object; what is in it is its author's. */
export const AnyObject = z
  .custom<JsonObject>((value) => isObject(value), 'expected an object')
  .meta({ type: 'object', additionalProperties: true });
