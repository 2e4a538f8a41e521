import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inferCategories, inferDomains, primaryDomain } from './domains.js';

/** Any UTF-16 text, lone surrogates included. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0xffff })), { maxLength: 60 })
  .map((codes) => String.fromCharCode(...codes));

describe('primaryDomain', () => {
  it.each([
    ['github', 'github'],
    ['modelcontextprotocol/github', 'github'],
    ['GitHub-MCP-Server', 'github'],
    ['gh', 'github'],
    ['lighthouse', 'lighthouse'],
    ['aws-s3-server', 'cloud.aws'],
    ['google-drive', 'cloud.gcp'],
    ['azure_mcp', 'cloud.azure'],
    ['@azure/mcp', 'cloud.azure'],
    ['postgres', 'database'],
    ['my_db_server', 'database'],
    ['server-filesystem', 'filesystem'],
    ['profiles', 'profiles'],
    ['fetch', 'web'],
    ['gmail-bot', 'email'],
    ['gcal', 'calendar'],
    ['slack-mcp', 'slack'],
    ['slack_mcp_server', 'slack'],
    ['discord_bot', 'discord'],
    ['jira_api', 'jira'],
    ['confluence-server', 'confluence'],
    ['notion-mcp-server', 'notion'],
    ['linear', 'linear'],
    ['amazon-connect', 'cloud.aws'],
    ['s3', 'cloud.aws'],
    ['gcp', 'cloud.gcp'],
    ['mysql_server', 'database'],
    ['sqlite', 'database'],
    ['database', 'database'],
    ['file', 'filesystem'],
    ['fs', 'filesystem'],
    ['http', 'web'],
    ['web-api', 'web'],
    ['mail', 'email'],
    ['smtp', 'email'],
    ['email', 'email'],
    ['calendar', 'calendar'],
    ['nonlinear', 'nonlinear'],
    ['weather-server/profile', 'profile'],
    ['my-custom_thing-mcp', 'my.custom.thing'],
    ['hostinger-api-mcp', 'hostinger'],
    ['-mcp', 'mcp'],
    ['', 'other'],
    ['///', 'other'],
  ])('SCH-4 %s is about %s', (server, domain) => {
    expect(primaryDomain(server)).toBe(domain);
  });
});

describe('inferDomains', () => {
  it.each([
    ['github', 'list_issues', ['github', 'github.issues']],
    ['github', 'get_issue', ['github', 'github.issues']],
    ['github', 'get_pull_request', ['github', 'github.pull_requests']],
    ['github', 'createPR', ['github', 'github.pull_requests']],
    ['github', 'search-repositories', ['github', 'github.repos']],
    ['github', 'get_repo', ['github', 'github.repos']],
    ['fs', 'create_directory', ['filesystem', 'filesystem.directories']],
    ['fs', 'list_folder', ['filesystem', 'filesystem.directories']],
    ['slack', 'sendMsg', ['slack', 'slack.messages']],
    ['slack', 'slack_post_message', ['slack', 'slack.messages']],
    ['x', 'edit_pull_request', ['x', 'x.pull_requests']],
    ['x', 'add_dir', ['x', 'x.directories']],
    ['x', 'read_message', ['x', 'x.messages']],
    ['x', 'write_repository', ['x', 'x.repos']],
    ['x', 'update-issue', ['x', 'x.issues']],
    ['x', 'deleteIssue', ['x', 'x.issues']],
    ['x', 'remove_issues', ['x', 'x.issues']],
    ['x', 'find_issue', ['x', 'x.issues']],
    ['x', 'fetch_issue', ['x', 'x.issues']],
    ['x', 'download_issue', ['x', 'x.issues']],
    ['x', 'upload_issue', ['x', 'x.issues']],
    ['x', 'get_user_by_id', ['x', 'x.users']],
    ['x', 'add_comment_to_issue', ['x', 'x.comments']],
    ['x', 'list_all_categories', ['x', 'x.categories']],
    ['x', 'get_category', ['x', 'x.categories']],
    ['x', 'list_branch', ['x', 'x.branches']],
    ['x', 'search_code', ['x', 'x.code']],
    ['x', 'whoami', ['x']],
    ['x', 'ping_server', ['x']],
    ['x', 'list', ['x']],
    ['x', '', ['x']],
  ])('SCH-5 %s and %s give %j', (server, tool, domains) => {
    expect(inferDomains(server, tool)).toEqual(domains);
  });
});

describe('inferCategories', () => {
  it.each([
    ['list_issues', ['crud.read']],
    ['getUser', ['crud.read']],
    ['read-file', ['crud.read']],
    ['download_file', ['crud.read']],
    ['search_code', ['crud.read', 'search']],
    ['findFiles', ['crud.read', 'search']],
    ['web_search', ['crud.read', 'search']],
    ['create_issue', ['crud.create']],
    ['newFile', ['crud.create']],
    ['postMessage', ['crud.create']],
    ['edit-file', ['crud.update']],
    ['patchRecord', ['crud.update']],
    ['fetchPage', ['crud.read']],
    ['add-label', ['crud.create']],
    ['update_issue', ['crud.update']],
    ['modify_acl', ['crud.update']],
    ['delete_issue', ['crud.delete']],
    ['notify-team', ['notify']],
    ['transformData', ['transform']],
    ['drop_table', ['crud.delete']],
    ['removeTag', ['crud.delete']],
    ['send_email', ['notify']],
    ['convert_image', ['transform']],
    ['validate_schema', ['validate']],
    ['upload_file', ['upload']],
    ['get_post', ['crud.read']],
    ['blog_post_list', ['crud.read']],
    ['linear_createProjectUpdate', ['crud.create']],
    ['create_or_update_file', ['crud.create', 'crud.update']],
    ['hosting_getSSLStatusV1', ['crud.read']],
    ['budget', ['other']],
    ['ping', ['other']],
    ['', ['other']],
  ])('SCH-6 %s is %j', (tool, categories) => {
    expect(inferCategories(tool)).toEqual(categories);
  });

  it('SCH-6 and SCH-5 are total: any name has a domain and a category', () => {
    fc.assert(
      fc.property(anyText, anyText, (server, tool) => {
        expect(inferCategories(tool).length).toBeGreaterThan(0);
        expect(inferDomains(server, tool)[0]).toBe(primaryDomain(server));
      }),
    );
  });
});
