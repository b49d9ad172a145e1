/** For sorting by texts, by their characters. */
export const inOrder = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);
