#ifdef __cplusplus
extern "C"
#endif
int count(int *n);
