#pragma once
#ifdef __cplusplus
extern "C"
#endif
void count_up(int *count, int n);
