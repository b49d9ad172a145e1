/** Files of a server's data directory that other programs look for. */
export const dataFiles = { adminConfig: 'admin.conf' } as const;
