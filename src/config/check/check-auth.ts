import type { Problem } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import type { AuthConfig } from '../../model/config.js';
import { joinPath, problemAt } from '../read/path.js';

/** What is wrong with one field of `auth`; values are never repeated. */
interface Complaint {
  readonly field: keyof AuthConfig;
  readonly message: string;
}

const isHttps = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === 'https:';

const isWeb = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** What is wrong with an `auth` whose variables are filled in. */
export function authComplaints(auth: AuthConfig): Complaint[] {
  const complaints: Complaint[] = [];
  const { type, clientId, clientSecret, clientMetadataUrl, issuer, scopes } = auth;
  if (type === 'client-credentials' && (clientId === undefined || clientSecret === undefined)) {
    complaints.push({ field: 'type', message: 'needs clientId and clientSecret for client-credentials' });
  }
  if (clientSecret !== undefined && clientId === undefined) {
    complaints.push({ field: 'clientSecret', message: 'has a clientSecret without the clientId it belongs to' });
  }
  if (clientMetadataUrl !== undefined && (!isHttps(clientMetadataUrl) || new URL(clientMetadataUrl).pathname === '/')) {
    complaints.push({ field: 'clientMetadataUrl', message: 'needs an https address with a path as clientMetadataUrl' });
  }
  if (issuer !== undefined && !isWeb(issuer)) {
    complaints.push({ field: 'issuer', message: 'needs the https address of an authorization server as issuer' });
  }
  if (scopes?.some((scope) => !/^[\u0021\u0023-\u005b\u005d-\u007e]+$/.test(scope))) {
    complaints.push({
      field: 'scopes',
      message: 'has a scope with a space or another character that no scope may have',
    });
  }
  return complaints;
}

/** The same for an `auth` as it is written: what a variable will bring cannot be judged yet. */
export function checkAuth(auth: unknown, path: string): Problem[] {
  if (!isObject(auth)) return [];
  const known = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' && !value.includes('${') ? value : undefined;
  /** Something stands there, whatever it will be. */
  const present = (value: unknown): string | undefined => (value === undefined ? undefined : (known(value) ?? 'x'));
  const { type, clientId, clientSecret, clientMetadataUrl, issuer, scopes } = auth;
  const readable: AuthConfig = {
    ...(type === 'client-credentials' && { type }),
    clientId: present(clientId),
    clientSecret: present(clientSecret),
    clientMetadataUrl: known(clientMetadataUrl),
    issuer: known(issuer),
    scopes: Array.isArray(scopes) ? scopes.map(known).filter((scope) => scope !== undefined) : undefined,
  };
  return authComplaints(readable).map(({ field, message }) => problemAt(joinPath(path, field), message));
}
