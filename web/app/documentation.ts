/** Where the documentation is, one page a task. */
export const DOCUMENTATION = 'https://github.com/toolscout/toolscout/tree/main/docs';
