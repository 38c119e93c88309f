/* SPDX-License-Identifier: Apache-2.0 */
/* A command's picture: on the terminal, and in the files that were asked for. */
#include "program/smem/picture.h"

#include <errno.h>
#include <string.h>

#include "program/base/messages.h"
#include "program/base/shared_file.h"

static int put_file(const struct picture *picture, const char *path, enum draw_form form) {
    if (!path)
        return 0;
    FILE *out = fopen(path, "w");
    if (!out)
        return complain("cannot write %s: %s", path, strerror(errno));
    const int status = picture->draw(out, form, picture->what);
    return file_finish(out, path) == 0 ? status : -1;
}

int picture_put(const struct picture *picture) {
    int status = picture->draw(stdout, draw_form_of(stdout), picture->what);
    if (status == 0)
        status = put_file(picture, picture->svg, DRAW_SVG);
    if (status == 0)
        status = put_file(picture, picture->html, DRAW_HTML);
    return status;
}
