/** Answers to questions why, as `plat why` prints them. */
export { accessText, subjectsText } from './access-text.ts';
export { conflictsText, type ObjectConflicts } from './conflict-text.ts';
export { type ObjectQuestionKind, objectText } from './object-text.ts';
export { rejectionText } from './rejection-text.ts';
export { slowText } from './slow-text.ts';
