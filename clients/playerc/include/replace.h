/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of args.h, the options of many programs for Player 2 and 3, include this
 * file. Its contents are part of every system now. */
