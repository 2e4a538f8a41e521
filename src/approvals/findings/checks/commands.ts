import type { Check, TextPattern } from '../check.js';

const RUNS = 'wants a command to be run';
const runs = (pattern: RegExp, weight = 4): TextPattern => ({ pattern, weight, reason: RUNS });

/** Shell commands that a model is to run elsewhere. */
export const commands: Check = {
  name: 'commands',
  about: 'Shell commands that fetch and run code, open doors or destroy',
  isShape: true,
  needs:
    /curl|wget|iwr|invoke-w|powershell|iex|\bnc\b|\/dev\/|mkfifo|bash|exec|eval|\brm\b|chmod|cron|\* \* \*|ufw|setenforce|iptables|netsh|firewall|antivirus|defender|authorized|\bnp[mx]\b|\bpip|terminal|shell|console|\bcmd\b|command line/,
  patterns: [
    runs(/\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]{1,160}[|>;&]{1,2}\s{0,3}(?:sudo )?(?:ba|z|da)?sh\b/),
    runs(/\b(?:curl|wget)\b[^\n]{1,120}&&[^\n]{0,60}\b(?:sh|bash|chmod|python3?|node)\b/),
    runs(/\bpowershell(?:\.exe)?\b[^\n]{0,60}-e(?:nc|ncodedcommand)?\b|\biex\s{0,2}\(/),
    runs(/\bnc\b[^\n]{0,30}-e\b|\/dev\/tcp\/|\bmkfifo\b|\bbash -i\b/),
    runs(/\b(?:exec|eval)\((?:[\w.]{0,30}\(){0,2}[^\n]{0,60}(?:urlopen|requests\.get|fetch|atob|base64)/),
    runs(/\brm -rf?\b\s{0,2}[~/$*\w]/, 4),
    runs(/\bchmod\b[^\n]{0,12}\b777\b/, 4),
    runs(/\bcrontab\b|\*\/?\d{0,2} \* \* \* \*\s{1,3}\S{0,20}(?:curl|sh|wget|python)/, 2),
    runs(
      /\b(?:ufw disable|setenforce 0|iptables -f|netsh advfirewall|turn off the firewall|disable (?:the )?(?:firewall|antivirus|defender))\b/,
      4,
    ),
    runs(/\b(?:add|append|put|write)\b[^.\n]{0,40}\bauthorized_keys\b/, 4),
    runs(
      /\b(?:npm (?:i|install)|pip3? install|npx)\b(?: -\S{1,12}){0,3} [\w@/.-]{1,60}[^\n]{0,60}\b(?:agent|terminal|shell|bash tool|first|before)\b/,
      4,
    ),
    runs(
      /\b(?:run|execute|exec|paste|type|put|enter|drop)\b[^.\n]{0,50}\b(?:in|into|via|through|by means of|using) (?:the |your |their |a |users? |an )?(?:available |user.?s )?(?:terminal|shell|console|cmd|command line|bash|powershell|crontab)\b/,
      3,
    ),
  ],
};
