/** AlwaysAdmit: has no effect. Kept for old command lines. */
import type { MakePlugin } from '../plugin.ts';

export const alwaysAdmit: MakePlugin = () => ({ name: 'AlwaysAdmit', handles: () => true });
