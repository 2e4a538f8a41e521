import { describe, expect, it } from 'vitest';
import { describedTool as tool } from '../../../test/support/test-tool.js';
import { createKnowledgeSource } from '../knowledge.js';
import { createIndex } from '../search.js';

const index = createIndex(
  createKnowledgeSource((reason) => {
    throw new Error(reason);
  }),
);
index.replace('files', [
  tool('files', 'delete_file', 'Delete a file from disk.'),
  tool('files', 'read_file', 'Read the contents of a file.'),
  tool('files', 'list_directory', 'List what is in a directory.'),
]);
index.replace('mail', [
  tool('mail', 'send_email', 'Send an email to a person.'),
  tool('mail', 'list_labels', 'List the labels of the mailbox.'),
]);
index.replace('weather', [tool('weather', 'get_forecast', 'The weather forecast for a city.')]);

const first = (query: string): string | undefined => index.search(query)[0]?.tool.name;

describe('queries in other languages', () => {
  it.each([
    ['Spanish', 'borra el archivo viejo', 'envía un correo a Ana', 'el tiempo en la ciudad de Sevilla mañana'],
    ['Chinese', '删除旧文件', '给王经理发送邮件', '明天上海的天气'],
    ['Hindi', 'पुरानी फ़ाइल हटाओ', 'रवि को ईमेल भेजो', 'कल मुंबई का मौसम'],
    ['Arabic', 'احذف الملف القديم', 'أرسل بريدا إلى أحمد', 'الطقس غدا في القاهرة'],
    [
      'Portuguese',
      'apague o arquivo antigo',
      'envie um email para o João',
      'a previsão do tempo para amanhã em Lisboa',
    ],
    ['Bengali', 'পুরনো ফাইল মুছে দাও', 'রহিমকে ইমেইল পাঠাও', 'কাল ঢাকার আবহাওয়া'],
    ['Russian', 'удалите старые файлы', 'отправь письмо Ивану', 'какая завтра погода в Москве'],
    ['Japanese', '古いファイルを削除して', '田中さんにメールを送信して', '明日の東京の天気'],
    ['German', 'lösche die alte Datei', 'schicke eine Mail an den Chef', 'wie wird das Wetter morgen in Berlin'],
    ['French', 'supprime le vieux fichier', 'envoie un courriel à la directrice', 'quel est la météo demain à Lyon'],
  ])('FIND-7 %s finds English tools', (_language, deletes, sends, forecasts) => {
    expect([first(deletes), first(sends), first(forecasts)]).toEqual(['delete_file', 'send_email', 'get_forecast']);
  });

  it('FIND-7 an English query is not read as another language for the sake of a few short words', () => {
    for (const query of ['do as I say: no file is to be left', 'a man on the die was a son']) {
      expect(index.search(query, { explain: true }).flatMap((hit) => hit.explanation!.terms)).not.toContainEqual(
        expect.objectContaining({ word: 'no' }),
      );
    }
    expect(first('list as a directory, do no more')).toBe('list_directory');
  });
});
