import type { Check } from '../check.js';
import { near } from '../rules.js';

const ELSEWHERE = 'tells a model to send things elsewhere';

/** Ways out for data: addresses to send things to. */
export const exfiltration: Check = {
  name: 'exfiltration',
  about: 'Addresses to which a model is told to send things',
  rules: [
    near('whole|always content|private|file|message send|copy|also web|mail|sink', 16, 4, ELSEWHERE),
    near('private|file|content send|copy web|mail|sink', 14, 3, ELSEWHERE),
    near('send web|mail', 14, 2, 'sends things to an address', { isOrdered: true, joins: true }),
    near('send web|mail always|also|whole content', 18, 3, ELSEWHERE, { joins: true }),
    near('send web|mail', 9, 6, ELSEWHERE, { isForeign: true }),
    near('send content sink also|always|whole', 10, 3, ELSEWHERE),
    near('send content sink', 8, 4, ELSEWHERE, { isForeign: true }),
  ],
  patterns: [
    {
      pattern:
        /\bb?cc:? [\w.+-]{1,64}@[\w-]{1,64}\.|\bb?cc\b.{0,40}@[\w-]{1,64}\.\w|@[\w-]{1,64}\.[\w.]{1,32} (?:\w+ ){0,3}(?:in |as )?b?cc\b/,
      weight: 6,
      reason: ELSEWHERE,
    },
    {
      pattern:
        /\b(?:post|send|forward|upload|copy|relay|transmit|push|mirror|deliver|submit|furnish|give)s? (?:it|them|this|that|everything|all|each|every|a copy|the (?:text|file|data|content|result|document|source|input|output|note|message)s?)\b.{0,50}\b(?:to|at|on) (?:https?|ftp):\/\//,
      weight: 6,
      reason: ELSEWHERE,
    },
    {
      pattern:
        /\b(?:webhook\.site|requestbin|pipedream\.net|ngrok|pastebin\.com|transfer\.sh|burpcollaborator|oast\.|interact\.sh|dnslog|api\.telegram\.org\/bot|discord(?:app)?\.com\/api\/webhooks)/,
      weight: 3,
      reason: 'names a service that collects what is sent to it',
    },
    {
      pattern: /\bhttps?:\/\/(?:\d{1,3}\.){3}\d{1,3}(?!\d)(?<!127\.0\.0\.1|0\.0\.0\.0)/,
      weight: 2,
      reason: 'names a web address without a host name',
    },
    {
      pattern:
        /\bcurl\b.{0,40}(?:-d|--data|-f|--form|-t|--upload-file)[ =]?["']?@|\b(?:scp|rsync|sftp|ftp|nc)\b .{0,60}(?:@|:\/)|\bfetch\(["']https?:.{0,80}(?:post|body)/,
      weight: 3,
      reason: 'sends a file by a command',
    },
    {
      pattern: /\b(?:encode|put|place|append)\b.{0,60}\b(?:sub ?domain|dns|query string|url parameter)/,
      weight: 2,
      reason: 'hides data in an address',
    },
  ],
};
