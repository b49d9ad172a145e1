/**
 * Texts of servers, objects and files on their way to a terminal. Control characters in them could move the cursor, hide lines
 * or answer for the user; they are shown as `\u001b` instead. Own sequences, such as colours, are written by `IO.terminal`.
 */
import type { IO } from '../command.ts';

/** All but tabs and line ends; texts that run from right to left can hide what a line says. */
const unsafe = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const allUnsafe = new RegExp(unsafe, 'gu');

/** The same text without control characters other than tabs and line ends. */
export const screenText = (text: string): string => (unsafe.test(text) ? text.replaceAll('\r\n', '\n').replace(allUnsafe, escapeOf) : text);
const escapeOf = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The same terminal, whose error output shows control characters. */
export const withSafeErrors = (io: IO): IO => ({ ...io, err: (text) => io.err(screenText(text)) });
